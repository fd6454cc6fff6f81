package subject

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// explainLoad is load.Explain for the program of a job, whose attach target is
// known.
func explainLoad(j *plan.Job, err error) error {
	forbidden := load.Forbidden(err)
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) && len(verifier.Log) > 0 && !forbidden {
		return load.Explain(j.Spec, j.Program, err)
	}
	if j.ProgramSpec().AttachType == ebpf.AttachLSMCgroup {
		return load.Lacking(fmt.Errorf("load program %s: the library that loads objects does not load lsm_cgroup programs: %w", j.Program, ebpf.ErrNotSupported))
	}
	var old *host.TooOldError
	if errors.As(host.TooOld(j.ProgramSpec(), err), &old) {
		return load.Lacking(old)
	}
	if p := j.ProgramSpec(); forbidden && hook.IsTracing(p.Type) && p.AttachTo != "" {
		// Privileges were checked before: some kernels grant this to nobody.
		return bench.WithHint(load.Lacking(fmt.Errorf("this kernel does not let programs be attached to %s: %w", p.SectionName, unix.EPERM)),
			"measure on a kernel that does: --kernel 6.12")
	}
	return load.Explain(j.Spec, j.Program, err)
}
