package profile

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Function is what a function costs in a profile.
type Function struct {
	Name, Module string
	Kernel       bool
	// File and Line are where most of Self is.
	File string
	Line int
	// Self is the time in the function, Total that and in all that it called.
	Self, Total time.Duration
}

type functionKey struct {
	name, module string
	kernel       bool
}

// Functions returns the functions that samples of a kind were in, those with the most time
// of their own first. A function that calls itself counts once in its total.
func (p *Profile) Functions(kind Kind) []Function {
	sums := map[functionKey]*Function{}
	lines := map[functionKey]map[place]time.Duration{}
	stacks, times := sumBy(p, func(s *Sample) (*Stack, bool) { return s.Stack, s.Kind == kind })
	for _, stack := range stacks {
		took := times[stack]
		seen := map[functionKey]bool{}
		innermost := true
		for l, f := range stack.frames {
			key := functionKey{l.Name(f.Func), l.Module, l.Kernel}
			sum := sums[key]
			if sum == nil {
				sum = &Function{Name: key.name, Module: l.Module, Kernel: l.Kernel}
				sums[key], lines[key] = sum, map[place]time.Duration{}
			}
			if innermost {
				sum.Self += took
				lines[key][place{f.File, f.Line}] += took
			}
			if !seen[key] {
				sum.Total += took
			}
			seen[key], innermost = true, false
		}
	}
	out := make([]Function, 0, len(sums))
	for key, f := range sums {
		f.File, f.Line = most(lines[key])
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	return out
}

// sumBy returns the time of the samples that have a key, and the keys in the order of their first
// samples. There can be many samples of few stacks, and stacks can be deep.
func sumBy[K comparable](p *Profile, of func(*Sample) (K, bool)) (keys []K, took map[K]time.Duration) {
	took = map[K]time.Duration{}
	for i := range p.Samples {
		s := &p.Samples[i]
		key, ok := of(s)
		if !ok {
			continue
		}
		if _, known := took[key]; !known {
			keys = append(keys, key)
		}
		took[key] += s.Took
	}
	return keys, took
}

// place is a line of source.
type place struct {
	file string
	line int
}

// most returns the line with the most time, of several the first.
func most(lines map[place]time.Duration) (file string, line int) {
	var best place
	var sum time.Duration
	for at, took := range lines {
		if took > sum || took == sum && cmp.Or(cmp.Compare(at.file, best.file), cmp.Compare(at.line, best.line)) < 0 {
			best, sum = at, took
		}
	}
	return best.file, best.line
}

// Wait is time that threads did not run, by the line of the program's own code that it was
// spent in.
type Wait struct {
	// Name, File and Line are the innermost function of the program's own code. Name is that
	// of the outermost function if there is none.
	Name, File string
	Line       int
	// In is the function that it called, which waited.
	In string
	// Took is how long, in Count samples; Longest is the longest of them.
	Took, Longest time.Duration
	Count         int
	// Idle: threads of the Go runtime that had nothing to do, and its own ones: all of their
	// functions are of package runtime.
	Idle bool
}

// Waits returns where threads did not run, longest first and idle ones last.
func (p *Profile) Waits() []Wait {
	type key struct {
		name, file, in string
		line           int
	}
	sums := map[key]*Wait{}
	waits := waits{}
	for _, s := range p.Samples {
		if s.Kind != OffCPU {
			continue
		}
		w := waits.of(s.Stack)
		if s.Preempted {
			w.In, w.Idle = "waiting for a CPU", false
		}
		k := key{w.Name, w.File, w.In, w.Line}
		if sums[k] == nil {
			sums[k] = &w
		}
		sum := sums[k]
		sum.Took += s.Took
		sum.Longest = max(sum.Longest, s.Took)
		sum.Count++
	}
	out := make([]Wait, 0, len(sums))
	for _, w := range sums {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Wait) int {
		if a.Idle != b.Idle {
			if a.Idle {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line), cmp.Compare(a.In, b.In))
	})
	return out
}

// Wait returns where a stack waits, without how long.
func (s *Stack) Wait() (w Wait) {
	called := ""
	w.Idle = true
	user := 0
	for l, f := range s.frames {
		if !l.Kernel {
			user++
			w.Idle = w.Idle && hasPrefix(f.Func, "runtime.", "internal/runtime/", "os/signal.")
		}
		name := l.Name(f.Func)
		if own(l, f) {
			return Wait{Name: name, File: f.File, Line: f.Line, In: called}
		}
		w.Name = name
		if !l.Kernel || called == "" {
			called = name
		}
	}
	w.In = called
	w.Idle = w.Idle && user > 0
	return w
}

// waits are those of stacks that were asked for.
type waits map[*Stack]Wait

func (w waits) of(s *Stack) Wait {
	wait, known := w[s]
	if !known {
		wait = s.Wait()
		w[s] = wait
	}
	return wait
}

// own reports whether a function is of the program, and not of a library or of the
// toolchain that built it.
func own(l *Location, f Frame) bool {
	switch {
	case l.Kernel, hasPrefix(l.Module, "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "["):
		return false
	case f.File == "<autogenerated>", hasPrefix(f.File, "/usr/local/go/src/", "/usr/include/", "/rustc/"):
		return false
	case strings.Contains(f.File, "/pkg/mod/"), strings.Contains(f.File, "/.cargo/registry/"):
		return false
	}
	return !hasPrefix(f.Func, goLibraries...) && !(f.File == "" && starts[f.Func])
}

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// goLibraries are the packages of Go's standard library that wait. With -trimpath, files do
// not tell.
var goLibraries = []string{
	"runtime.", "runtime/", "syscall.", "internal/", "sync.", "time.", "os.", "os/", "net.", "net/", "io.", "bufio.", "golang.org/x/sys/",
}

// starts are the functions in which threads start, of C, of Go and of the dynamic linker.
var starts = map[string]bool{
	"_start": true, "__libc_start_main": true, "__libc_start_call_main": true, "__libc_start_main_impl": true, "start_thread": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true, "_dl_start": true, "_dl_start_user": true,
	"runtime.goexit": true, "runtime.goexit.abi0": true, "runtime.mstart": true, "runtime.mstart.abi0": true, "runtime.rt0_go": true, "runtime.rt0_go.abi0": true,
	"runtime.mcall": true, "runtime.mcall.abi0": true, "runtime.systemstack": true, "runtime.systemstack.abi0": true, "runtime.systemstack_switch": true,
	"runtime.morestack": true, "runtime.morestack.abi0": true,
}

// frames yields the functions of a stack, innermost first.
func (s *Stack) frames(yield func(*Location, Frame) bool) {
	for _, l := range s.Locations {
		for _, f := range l.Frames {
			if !yield(l, f) {
				return
			}
		}
	}
}

// Widest is a stack with the time that it took.
type Widest struct {
	Stack  *Stack
	Thread string
	Took   time.Duration
}

// WidestStacks returns the stacks with the most time of a kind, at most n.
func (p *Profile) WidestStacks(kind Kind, n int) []Widest {
	type key struct {
		stack  *Stack
		thread string
	}
	keys, sums := sumBy(p, func(s *Sample) (key, bool) { return key{s.Stack, s.Thread.Name}, s.Kind == kind })
	out := make([]Widest, 0, min(n, len(keys)))
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(sums[b], sums[a]) })
	for _, k := range keys[:min(n, len(keys))] {
		out = append(out, Widest{k.stack, k.thread, sums[k]})
	}
	return out
}

// Cut is how many stacks of a module do not lead to the start of their thread.
type Cut struct {
	Module string
	Cut    int
}

// CutStacks returns the modules in which stacks end too early, by the module of the last
// function that was found, those with the most first, and how many stacks there are.
func (p *Profile) CutStacks() (modules []Cut, cut, all int) {
	byModule := map[string]int{}
	for _, s := range p.Samples {
		all++
		if s.Stack.Cut {
			cut++
			if n := len(s.Stack.Locations); n > 0 {
				byModule[s.Stack.Locations[n-1].Module]++
			}
		}
	}
	for module, n := range byModule {
		modules = append(modules, Cut{Module: module, Cut: n})
	}
	slices.SortFunc(modules, func(a, b Cut) int { return cmp.Or(cmp.Compare(b.Cut, a.Cut), cmp.Compare(a.Module, b.Module)) })
	return modules, cut, all
}

// Total returns the time of all samples of a kind, and how many there are.
func (p *Profile) Total(kind Kind) (took time.Duration, samples int) {
	for _, s := range p.Samples {
		if s.Kind == kind {
			took += s.Took
			samples++
		}
	}
	return took, samples
}

// Event is what a line caused: requests to disks, or page faults.
type Event struct {
	Name, File    string
	Line          int
	Count         int
	Took, Longest time.Duration
	Bytes         uint64
}

// Events returns the lines of the program's own code that caused events of a kind, those
// with the longest time first, and of the same time those with the most.
func (p *Profile) Events(kind Kind) []Event {
	type key struct {
		name, file string
		line       int
	}
	sums := map[key]*Event{}
	waits := waits{}
	for _, s := range p.Samples {
		if s.Kind != kind {
			continue
		}
		w := waits.of(s.Stack)
		k := key{w.Name, w.File, w.Line}
		if sums[k] == nil {
			sums[k] = &Event{Name: w.Name, File: w.File, Line: w.Line}
		}
		e := sums[k]
		e.Count++
		e.Took += s.Took
		e.Longest = max(e.Longest, s.Took)
		if s.Request != nil {
			e.Bytes += uint64(s.Request.Bytes)
		}
	}
	out := make([]Event, 0, len(sums))
	for _, e := range sums {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Event) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	return out
}
