package runner

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// explainLoad is explainLoad for the program of a job, of which it is known what
// it is to be attached to.
func (j *Job) explainLoad(err error) error {
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) && len(verifier.Log) > 0 {
		return explainLoad(j.Spec, j.Program, err)
	}
	if j.program().AttachType == ebpf.AttachLSMCgroup {
		return &classed{classFeature, fmt.Errorf("load program %s: the library that loads objects does not load lsm_cgroup programs: %w", j.Program, ebpf.ErrNotSupported)}
	}
	var old *host.TooOldError
	if errors.As(host.TooOld(j.program(), err), &old) {
		return &classed{classFeature, old}
	}
	if errors.Is(err, unix.EPERM) && j.Command != nil && j.program().AttachTo != "" {
		// Privileges were checked before: some kernels leave this to nobody.
		return bench.WithHint(&classed{classFeature, fmt.Errorf("this kernel does not let programs be attached to %s: %w", j.Command.Attach, unix.EPERM)},
			"measure on a kernel that does: --kernel 6.12")
	}
	return explainLoad(j.Spec, j.Program, err)
}
