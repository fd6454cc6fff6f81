//go:build linux

package profile

import (
	"maps"
	"slices"
	"unsafe"

	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/symbol/unwind"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

// sampled is a sample, whose stack in user space may have been unwound. Whole: it ends
// with the function that the thread started in.
type sampled struct {
	perfprofiler.Sample
	unwound, whole bool
}

// unwinder unwinds the stacks of samples while others are taken, because the copies of
// stacks are too large to keep. What was mapped at the time of a sample is known a little
// later: until then samples wait.
type unwinder struct {
	known   *processes // as of the last sample that was unwound
	next    int        // the first of the events that have not been applied to known
	waiting []perfprofiler.Sample
	tables  map[*symbol.Binary]*unwind.Table
}

func newUnwinder(known *processes) *unwinder {
	own := *known
	own.byPID = maps.Clone(known.byPID)
	for pid, p := range own.byPID {
		own.byPID[pid] = &process{p.name, p.maps.Copy()}
	}
	return &unwinder{known: &own, tables: map[*symbol.Binary]*unwind.Table{}}
}

// sampled keeps a sample. Before, it is unwound if there is something to unwind.
func (r *recording) sampled(s perfprofiler.Sample) {
	if r.unwinder == nil {
		r.keep(sampled{Sample: s})
		return
	}
	const most = 4096 // so that their copies take 100 MB at most
	u := r.unwinder
	u.waiting = append(u.waiting, s)
	until := r.side.Until()
	n := 0
	for n < len(u.waiting) && (u.waiting[n].Time <= until || len(u.waiting)-n > most) {
		n++
	}
	r.unwind(n)
}

// keep keeps a sample, if there is room for it.
func (r *recording) keep(s sampled) {
	if !r.room.Take(uint64(unsafe.Sizeof(s)) + 8*uint64(len(s.Kernel)+len(s.User))) {
		r.lost[Kind(s.Kind)]++
		return
	}
	r.samples = append(r.samples, s)
}

// unwind unwinds the first of the samples that wait.
func (r *recording) unwind(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.unwinder
	for _, s := range u.waiting[:n] {
		for u.next < len(r.events) && r.events[u.next].Time <= s.Time {
			u.known.apply(r.events[u.next])
			u.next++
		}
		r.keep(u.unwind(s))
	}
	u.waiting = slices.Delete(u.waiting, 0, n)
}

func (u *unwinder) unwind(s perfprofiler.Sample) sampled {
	if s.Copy == nil {
		return sampled{Sample: s}
	}
	out := sampled{Sample: s, unwound: true}
	regs := unwind.Registers(s.Copy.Registers)
	stack := unwind.Stack{Base: regs[unwind.StackPointer] - perfprofiler.RedZone, Memory: s.Copy.Memory}
	out.User, out.whole = unwind.Callers(regs, stack, func(addr uint64) (*unwind.Table, uint64, bool) { return u.code(s.PID, addr) }, s.User)
	out.Copy = nil
	return out
}

// code returns what is known of the code at an address of a process.
func (u *unwinder) code(pid uint32, addr uint64) (t *unwind.Table, vaddr uint64, mapped bool) {
	m := u.known.at(pid, addr)
	if m == nil {
		return nil, 0, !u.known.unmapped(pid, addr)
	}
	b, offset := ownVDSO(), addr-m.Start
	if m.Path != "[vdso]" {
		if b = nil; m.module != nil {
			b, offset = m.module.binary, offset+m.Offset
		}
	}
	if b == nil {
		return nil, 0, true
	}
	vaddr, ok := b.Address(offset)
	if !ok {
		return nil, 0, true
	}
	if t, ok = u.tables[b]; !ok {
		ehFrame, at, debugFrame := b.CallFrames()
		t, _ = unwind.New(ehFrame, at, debugFrame, u.known.budget) // of what is malformed, nothing is known
		u.tables[b] = t
	}
	return t, vaddr, true
}
