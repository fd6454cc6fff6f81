//go:build linux

package profile

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

// namer names addresses.
type namer struct {
	known     *processes
	kernel    *symbol.Kernel // nil if it cannot be read
	perfMaps  map[uint32]*symbol.PerfMap
	locations map[locationKey]*Location
	stacks    map[string]*Stack
	room      *budget.Budget // for stacks
	notes     []bench.Note
}

const (
	// maxFrames bounds the functions of a stack. Those of programs have some hundreds.
	maxFrames = 2048
	// maxStacks bounds the functions of all stacks that differ, with their names, in bytes:
	// what is written is made of them.
	maxStacks = 2 << 30
	frameSize = 64
)

// locationKey identifies a location: by its module and the address that is looked up there.
type locationKey struct {
	file   *module // nil if there is none
	name   string
	lookup uint64
	pid    uint32 // of a location that is not in a file
}

// locationSize is what a location takes, without the names of its functions, in bytes.
const locationSize = uint64(unsafe.Sizeof(Location{})+unsafe.Sizeof(locationKey{})+unsafe.Sizeof(Frame{})) + 64

// others is of all that there is no room for, of a module.
func (k locationKey) others() locationKey { return locationKey{file: k.file, name: "[others]"} }

func newNamer(known *processes) *namer {
	n := &namer{known: known, perfMaps: map[uint32]*symbol.PerfMap{}, locations: map[locationKey]*Location{}, stacks: map[string]*Stack{}, room: budget.New(maxStacks)}
	var err error
	if n.kernel, err = symbol.ReadKernel(); err != nil {
		n.notes = append(n.notes, bench.Note{Warn: true, Text: "functions of the kernel have no names: " + err.Error(), Hint: bench.Hint(err)})
	} else {
		n.addPrograms()
	}
	return n
}

// addPrograms lets the kernel's BPF programs have lines of source, if they have BTF.
func (n *namer) addPrograms() {
	const most = 1000 // each takes some system calls
	id := ebpf.ProgramID(0)
	for range most {
		var err error
		if id, err = ebpf.ProgramGetNextID(id); err != nil {
			return
		}
		if p, err := ebpf.NewProgramFromID(id); err == nil {
			_ = n.kernel.AddProgram(p) // it has no lines then
			_ = p.Close()
		}
	}
}

// stack names the addresses of a sample. All but the innermost are where a call returns to:
// the call is before them.
func (n *namer) stack(s sampled) *Stack {
	locations := make([]*Location, 0, len(s.Kernel)+len(s.User))
	frames := 0
	add := func(l *Location) (added bool) {
		if frames += len(l.Frames); len(locations) > 0 && frames > maxFrames {
			return false
		}
		locations = append(locations, l)
		return true
	}
	for i, addr := range s.Kernel {
		if i > 0 {
			addr--
		}
		l := n.kernelAt(addr)
		if len(locations) > 0 || !isProfiler(l) {
			add(l)
		}
	}
	cut := !s.unwound && len(s.User) == perfprofiler.MaxStack
	for i, addr := range s.User {
		// What is not mapped is not code: the function before keeps no frame pointer.
		if i > 0 && n.known.unmapped(s.PID, addr) {
			cut = true
			break
		}
		// A thread that sleeps made a system call, and returns to behind it.
		if i > 0 || s.Kind == perfprofiler.OffCPU && !s.Preempted {
			addr--
		}
		if !add(n.userAt(s.PID, addr)) {
			cut = true
			break
		}
	}
	cut = len(s.User) > 0 && (cut || !s.whole && !isStart(locations[len(locations)-1]))
	return n.shared(locations, cut)
}

// shared returns the stack of locations. Where there is no room for another stack, it has its
// innermost location only.
func (n *namer) shared(locations []*Location, cut bool) *Stack {
	key := stackKey(locations)
	if known := n.stacks[key]; known != nil {
		return known
	}
	if len(locations) > 1 && !n.room.Take(sizeOf(locations)) {
		return n.shared(locations[:1], true)
	}
	stack := &Stack{Locations: locations, Cut: cut}
	n.stacks[key] = stack
	return stack
}

// sizeOf returns what locations take of a stack.
func sizeOf(locations []*Location) (bytes uint64) {
	for _, l := range locations {
		for _, f := range l.Frames {
			bytes += frameSize + uint64(len(f.Func))
		}
	}
	return bytes
}

// isProfiler reports whether a function of the kernel runs the programs of the profiler.
func isProfiler(l *Location) bool {
	name := l.Frames[0].Func
	for _, prefix := range []string{"bpf_prog_", "bpf_trace_run", "bpf_trampoline_", "__bpf_trace_", "__traceiter_", "__bpf_prog_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// stackKey returns a text that equal stacks have in common: locations are never freed.
func stackKey(locations []*Location) string {
	key := make([]byte, 0, 8*len(locations))
	for _, l := range locations {
		key = binary.NativeEndian.AppendUint64(key, l.number)
	}
	return string(key)
}

func isStart(l *Location) bool {
	name := l.Frames[len(l.Frames)-1].Func
	return starts[name] || starts[strings.TrimSuffix(name, "@plt")]
}

func (n *namer) kernelAt(addr uint64) *Location {
	return n.location(locationKey{name: kernelModule, lookup: addr}, func() *Location {
		l := &Location{Module: kernelModule, Address: addr, Kernel: true}
		if n.kernel != nil {
			// Whoever loads a BPF program need not have written what it names.
			l.Frames, l.Origin = n.kernel.Frames(addr), symbol.Public
		}
		return l
	})
}

const kernelModule = "[kernel]"

func (n *namer) userAt(pid uint32, addr uint64) *Location {
	m := n.known.at(pid, addr)
	if m == nil || m.module == nil || m.module.binary == nil {
		return n.unfiledAt(pid, addr, m)
	}
	vaddr, ok := m.module.binary.Address(addr - m.Start + m.Offset)
	if !ok {
		return n.unfiledAt(pid, addr, m)
	}
	return n.location(locationKey{file: m.module, lookup: vaddr}, func() *Location {
		b := m.module.binary
		start, end, _ := b.Extent(vaddr)
		return &Location{Module: m.module.path, BuildID: b.BuildID(), Origin: b.Origin(), Address: vaddr, Start: start, End: end, Frames: b.Frames(vaddr)}
	})
}

// unfiledAt names an address that is in no file: of the vdso, of code that the process
// compiled itself, or of nothing.
func (n *namer) unfiledAt(pid uint32, addr uint64, m *mapping) *Location {
	if m != nil && m.Path == "[vdso]" {
		return n.location(locationKey{nil, m.Path, addr - m.Start, 0}, func() *Location {
			return &Location{Module: m.Path, Address: addr - m.Start, Frames: n.vdso(addr - m.Start)}
		})
	}
	key := locationKey{nil, "[unknown]", addr, pid}
	if m != nil && m.Path != "" {
		key.name = m.Path
	}
	if known := n.locations[key]; known != nil {
		return known
	}
	frames := n.perfMap(pid).Frames(addr)
	if m != nil && len(frames) == 0 {
		// What a process compiles itself has many addresses, and none says what it is.
		key.lookup = m.Start
	}
	return n.location(key, func() *Location {
		return &Location{Module: key.name, Address: key.lookup, Frames: frames}
	})
}

func (n *namer) location(key locationKey, name func() *Location) *Location {
	if known := n.locations[key]; known != nil {
		return known
	}
	// What the kernel has is no stranger's.
	if key.name != kernelModule && key != key.others() && !n.known.budget.Take(locationSize) {
		return n.location(key.others(), func() *Location {
			l := &Location{Module: "[unknown]", Frames: []Frame{{Func: "[others]"}}}
			if key.file != nil {
				l.Module = key.file.path
			}
			return l
		})
	}
	l := name()
	if len(l.Frames) == 0 {
		l.Frames = []Frame{{}}
	}
	l.number = uint64(len(n.locations))
	n.locations[key] = l
	return l
}

// perfMap returns what a process wrote down of the code that it compiled itself.
func (n *namer) perfMap(pid uint32) *symbol.PerfMap {
	m, known := n.perfMaps[pid]
	if !known {
		if h := n.known.home(pid); h != nil {
			m = symbol.ReadPerfMap(h.Process, h.root, n.known.budget)
		}
		n.perfMaps[pid] = m
	}
	return m
}

// vdso names an address in the library that the kernel maps into every process.
func (n *namer) vdso(offset uint64) []Frame {
	b := ownVDSO()
	if b == nil {
		return nil
	}
	vaddr, ok := b.Address(offset)
	if !ok {
		return nil
	}
	return b.Frames(vaddr)
}

// ownVDSO returns the vdso of this process, nil if it has none. All 64-bit processes have
// the same one.
var ownVDSO = sync.OnceValue(readVDSO)

func readVDSO() *symbol.Binary {
	maps, err := readMaps(os.Getpid())
	if err != nil {
		return nil
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil
	}
	defer memory.Close()
	for _, m := range maps {
		if m.Path != "[vdso]" {
			continue
		}
		text := make([]byte, m.End-m.Start)
		if _, err := memory.ReadAt(text, int64(m.Start)); err != nil {
			return nil
		}
		b, err := symbol.New(bytes.NewReader(text), nil)
		if err != nil {
			return nil
		}
		return b
	}
	return nil
}
