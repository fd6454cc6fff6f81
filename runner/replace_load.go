package runner

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// load loads what may be the job's programs in another form: first the program,
// then what replaces functions of it, which the verifier takes only with the loaded
// program at hand.
func (j *Job) load(spec *ebpf.CollectionSpec) (coll *ebpf.Collection, warning string, err error) {
	if err := answerKconfig(spec); err != nil { // of both
		return nil, "", j.explainLoad(err)
	}
	replacing := map[string]*ebpf.ProgramSpec{}
	for _, r := range j.replacements {
		replacing[r.key] = spec.Programs[r.key]
		delete(spec.Programs, r.key)
	}
	if coll, warning, err = loadCollection(spec); err != nil {
		return nil, "", j.explainLoad(err)
	}
	for _, r := range j.replacements {
		by := &ebpf.CollectionSpec{Maps: withoutContents(spec.Maps), Programs: map[string]*ebpf.ProgramSpec{r.key: replacing[r.key]}}
		if coll.Programs[r.key], err = loadReplacement(coll, by, r.key, coll.Programs[j.Program]); err != nil {
			coll.Close()
			return nil, "", r.explainLoad(by, err)
		}
	}
	return coll, warning, nil
}

// withoutContents are maps that hold nothing yet: what loaded ones hold is there, and
// may be programs that are not loaded again.
func withoutContents(all map[string]*ebpf.MapSpec) map[string]*ebpf.MapSpec {
	empty := make(map[string]*ebpf.MapSpec, len(all))
	for name, m := range all {
		empty[name] = m.Copy()
		empty[name].Contents = nil
	}
	return empty
}

// loadReplacement loads a program of a spec, which uses the maps of a collection, in
// place of a function of a loaded program.
func loadReplacement(coll *ebpf.Collection, by *ebpf.CollectionSpec, key string, target *ebpf.Program) (*ebpf.Program, error) {
	by.Programs[key].AttachTarget = target
	o := ebpf.CollectionOptions{MapReplacements: coll.Maps, Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}, Cache: host.Types}
	loaded, err := ebpf.NewCollectionWithOptions(by.Copy(), o)
	if err != nil && !logTooLong(err) {
		// The log of a refusal is another one.
		o.Programs.LogLevel = 0
		loaded, err = ebpf.NewCollectionWithOptions(by.Copy(), o)
	}
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	return loaded.DetachProgram(key), nil
}

// explainLoad is explainLoad for a program of which it is known what it replaces.
func (r *replacement) explainLoad(spec *ebpf.CollectionSpec, err error) error {
	var verifier *ebpf.VerifierError
	logged := errors.As(err, &verifier) && len(verifier.Log) > 0
	if errors.Is(err, unix.EPERM) && !logged {
		// Privileges were checked before: some kernels leave this to nobody.
		return bench.WithHint(&classed{classFeature, fmt.Errorf("this kernel does not let function %s be replaced by program %s: %w", r.Function, r.Program, unix.EPERM)},
			"measure on a kernel that does: --kernel 6.12; ebpf-bench doctor says of freplace what this one can do")
	}
	return explainLoad(spec, r.key, err)
}

// attachReplacements puts what replaces functions of the job's program in their
// place, until it is closed.
func (j *Job) attachReplacements(coll *ebpf.Collection) (all []io.Closer, err error) {
	for _, r := range j.replacements {
		// What it replaces was said when it was loaded.
		attached, err := link.AttachFreplace(nil, "", coll.Programs[r.key])
		if err != nil {
			closeAll(all)
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
