// Package load loads programs, explains in one line why one does not load, and
// reads what is known about one that does.
package load

import (
	"errors"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// Collection loads a collection and fills in what it asks about the kernel. The
// log is the verifier's statistics; if loading fails, it tries again without
// them, for the log of the refusal. If the kernel refuses the object's types,
// it loads without them and returns a warning. Close the collection with Close.
func Collection(spec *ebpf.CollectionSpec) (coll *ebpf.Collection, warning string, err error) {
	n := len(spec.Programs)
	if err := programs.take(n); err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			programs.drop(n)
		}
	}()
	if err := checkMemory(spec); err != nil {
		return nil, "", err
	}
	if err := Answer(spec); err != nil {
		return nil, "", err
	}
	stats := ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}, Cache: host.Types}
	coll, err = ebpf.NewCollectionWithOptions(spec.Copy(), stats)
	if err == nil || logTooLong(err) {
		return coll, "", err
	}
	coll, err = ebpf.NewCollectionWithOptions(spec.Copy(), ebpf.CollectionOptions{Cache: host.Types})
	if err == nil || !strings.Contains(err.Error(), "load BTF: ") {
		return coll, "", err
	}
	object.StripTypes(spec)
	coll, second := ebpf.NewCollectionWithOptions(spec, stats)
	if second != nil {
		return nil, "", err
	}
	return coll, "loaded without types and source lines: the kernel refuses those of the object", nil
}

// mostLogged bounds the instructions that the verifier may follow and log: each
// is a line, and a small machine has no room for a million.
const mostLogged = 50_000

// logTooLong reports whether logging every instruction would take too much
// memory. err is a refusal whose log has only statistics.
func logTooLong(err error) bool {
	var verifier *ebpf.VerifierError
	if !errors.As(err, &verifier) {
		return false
	}
	for _, line := range verifier.Log {
		if m := processedLine.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			return err != nil || n > mostLogged
		}
	}
	return false
}

// WithoutContents returns copies of maps without contents. The loaded maps
// already have them, and they may be programs that are not loaded again.
func WithoutContents(all map[string]*ebpf.MapSpec) map[string]*ebpf.MapSpec {
	empty := make(map[string]*ebpf.MapSpec, len(all))
	for name, m := range all {
		empty[name] = m.Copy()
		empty[name].Contents = nil
	}
	return empty
}

// Replacement loads a program of a spec in place of a function of a loaded
// program, and adds it to a collection, whose maps it uses.
func Replacement(coll *ebpf.Collection, by *ebpf.CollectionSpec, key string, target *ebpf.Program) error {
	if err := programs.take(1); err != nil {
		return err
	}
	by.Programs[key].AttachTarget = target
	o := ebpf.CollectionOptions{MapReplacements: coll.Maps, Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}, Cache: host.Types}
	loaded, err := ebpf.NewCollectionWithOptions(by.Copy(), o)
	if err != nil && !logTooLong(err) {
		// Statistics leave out the log of the refusal.
		o.Programs.LogLevel = 0
		loaded, err = ebpf.NewCollectionWithOptions(by.Copy(), o)
	}
	if err != nil {
		programs.drop(1)
		return err
	}
	coll.Programs[key] = loaded.DetachProgram(key)
	loaded.Close()
	return nil
}
