package count

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// failedTailCall is a tail call that did not happen, and the reason.
type failedTailCall struct {
	program string
	insn.TailCall
	why string
}

// findFailedTailCalls finds the tail calls that did not happen, and why,
// judging by the present contents of maps. Failed calls that it cannot tell
// apart are unclear.
func (e *Executed) findFailedTailCalls(coll *ebpf.Collection) {
	var open []failedTailCall
	var made, entered, failed uint64
	for _, p := range e.table.Programs {
		if !e.job.ReplacesPart(p.Name) { // a replacement is called, not run
			entered += e.total.Runs(p.Name)
		}
		for _, call := range e.total.TailCalls(p.Name) {
			f := failedTailCall{p.Name, call, ""}
			m := coll.Maps[f.Map]
			if !f.Told && leadsNowhere(m, f.Key) {
				f.Failed, f.Told = f.Times, true
			}
			made, failed = made+f.Times, failed+f.Failed
			f.why = whyFailed(m, f.Map, f.Key)
			switch {
			case !f.Told:
				open = append(open, f)
			case f.Failed > 0:
				e.failed = append(e.failed, f)
			}
		}
	}
	// Each entry of a program is a run or a tail call that happened. That holds
	// only if no run is in progress while the counts are read.
	happened := entered - e.runs()
	if e.job.KindsOfRuns() == 0 || made <= happened+failed {
		return
	}
	if len(open) > 1 {
		e.unclear = open
		return
	}
	for _, f := range open {
		f.Failed = made - happened - failed
		e.failed = append(e.failed, f)
	}
}

// leadsNowhere reports whether it is known that a map has no program at key.
func leadsNowhere(m *ebpf.Map, key int64) bool {
	if m == nil || key < 0 || key > math.MaxUint32 {
		return false
	}
	var program uint32
	return key >= int64(m.MaxEntries()) || errors.Is(m.Lookup(uint32(key), &program), ebpf.ErrKeyNotExist)
}

// whyFailed says why a tail call to a key of a map failed. m is nil if the map
// is unknown, key -1 if the key is.
func whyFailed(m *ebpf.Map, name string, key int64) string {
	switch known := m != nil && key >= 0 && key <= math.MaxUint32; {
	case known && key >= int64(m.MaxEntries()):
		return fmt.Sprintf("%s has no index %d", name, key)
	case m != nil && holdsNothing(m):
		return fmt.Sprintf("%s is empty: say what it holds by maps: {%s: {entries: [{key: %d, program: NAME}]}}", name, name, max(key, 0))
	case !known:
		return fmt.Sprintf("%s has no program at its index, or there were 33 in this run", cmp.Or(name, "the map"))
	case leadsNowhere(m, key):
		return fmt.Sprintf("index %d of %s is empty", key, name)
	}
	return "there were 33 in this run, which is the limit"
}

func holdsNothing(m *ebpf.Map) bool {
	var program uint32
	for key := range m.MaxEntries() {
		if err := m.Lookup(key, &program); !errors.Is(err, ebpf.ErrKeyNotExist) {
			return false
		}
	}
	return true
}

// TailCallWarnings returns a warning for each tail call that failed.
func (e *Executed) TailCallWarnings() (all []string) {
	for _, f := range e.failed {
		often := ""
		if f.Failed < e.runs() {
			often = fmt.Sprintf(" in %d of %d runs", f.Failed, e.runs())
		}
		all = append(all, fmt.Sprintf("the tail call at %s failed%s: %s", e.place(f.program, f.Index), often, f.why))
	}
	if w := e.unclearTailCalls(); w != "" {
		all = append(all, w)
	}
	return unique(all)
}

// unclearTailCalls returns the warning about failed tail calls that cannot be
// told apart, or "" if there are none.
func (e *Executed) unclearTailCalls() string {
	if len(e.unclear) == 0 {
		return ""
	}
	var where []string
	for _, f := range e.unclear {
		where = append(where, e.place(f.program, f.Index))
	}
	return fmt.Sprintf("tail calls failed, at one or more of %s: %s", unit.Few(unique(where)), e.unclear[0].why)
}

// place returns the line of an instruction, or its number if it has no line.
func (e *Executed) place(program string, index int) string {
	p := e.table.Program(program)
	if l := srcline.At(p, index); l != nil && l.File != "" && l.Number > 0 {
		return fmt.Sprintf("%s:%d", path.Clean(l.File), l.Number)
	}
	return fmt.Sprintf("%s+%d", program, p.Slots()[index])
}

// note returns a remark about an instruction, or "".
func (e *Executed) note(program string, index int) string {
	for _, f := range e.failed {
		if f.program == program && f.Index == index {
			return "the tail call failed: " + f.why
		}
	}
	return ""
}
