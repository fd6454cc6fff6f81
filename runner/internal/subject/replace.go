package subject

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// LoadJob loads spec, which may be another form of the job's programs. It loads
// the program first, and then the programs that replace functions of it, for
// which the verifier needs the loaded program.
func LoadJob(j *plan.Job, spec *ebpf.CollectionSpec) (coll *ebpf.Collection, warning string, err error) {
	if err := load.Answer(spec); err != nil { // of the program and its replacements
		return nil, "", explainLoad(j, err)
	}
	replacing := map[string]*ebpf.ProgramSpec{}
	for _, r := range j.Replacements {
		replacing[r.Key] = spec.Programs[r.Key]
		delete(spec.Programs, r.Key)
	}
	if coll, warning, err = load.Collection(spec); err != nil {
		return nil, "", explainLoad(j, err)
	}
	for _, r := range j.Replacements {
		by := &ebpf.CollectionSpec{Maps: load.WithoutContents(spec.Maps), Programs: map[string]*ebpf.ProgramSpec{r.Key: replacing[r.Key]}}
		if err = load.Replacement(coll, by, r.Key, coll.Programs[j.Program]); err != nil {
			load.Close(coll)
			return nil, "", explainReplacement(&r, by, err)
		}
	}
	return coll, warning, nil
}

// explainReplacement is load.Explain for a program whose target function is
// known.
func explainReplacement(r *plan.Replacement, spec *ebpf.CollectionSpec, err error) error {
	if load.Forbidden(err) {
		// Privileges were checked before: some kernels grant this to nobody.
		return bench.WithHint(load.Lacking(fmt.Errorf("this kernel does not let function %s be replaced by program %s: %w", r.Function, r.Program, unix.EPERM)),
			"measure on a kernel that does: --kernel 6.12; ebpf-bench doctor says of freplace what this one can do")
	}
	return load.Explain(spec, r.Key, err)
}

// attachReplacements replaces functions of the job's program until the returned
// closers are closed.
func attachReplacements(j *plan.Job, coll *ebpf.Collection) (all []io.Closer, err error) {
	for _, r := range j.Replacements {
		// The target was given when the replacement was loaded.
		attached, err := link.AttachFreplace(nil, "", coll.Programs[r.Key])
		if err != nil {
			driver.CloseAll(all)
			hint := ""
			if errors.Is(err, unix.EBUSY) {
				hint = "the kernel replaces no function of a program that others tail call, and none that is traced"
			}
			return nil, bench.WithHint(fmt.Errorf("replace function %s by program %s: %w", r.Function, r.Program, err), hint)
		}
		all = append(all, attached)
	}
	return all, nil
}
