//go:build linux

package profile

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// compile compiles testdata/chain.c, without frame pointers.
func compile(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Root(t)
	testenv.Tools(t, "gcc")
	binary := filepath.Join(t.TempDir(), "chain")
	args := append([]string{"-O2", "-fomit-frame-pointer", "-o", binary, "testdata/chain.c", "-lpthread"}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// stacksOf returns the stacks of samples of a kind with a function in them: the functions
// of user space, innermost first.
func stacksOf(p *Profile, kind Kind, in string) (stacks [][]string, cut int) {
	for _, s := range p.Samples {
		var names []string
		for l, f := range s.Stack.frames {
			if !l.Kernel {
				names = append(names, f.Func)
			}
		}
		if s.Kind == kind && slices.Contains(names, in) {
			stacks = append(stacks, names)
			if s.Stack.Cut {
				cut++
			}
		}
	}
	return stacks, cut
}

// Callers are found without frame pointers, down to the start of the thread.
func TestStacksWithoutFramePointers(t *testing.T) {
	testenv.Long(t, "compiles and profiles seven programs")
	const whole = "f10 f9 f8 f7 f6 f5 f4 f3 f2 f1 "
	for _, c := range []struct {
		name  string
		flags []string
		arg   string
		kind  Kind
		// want is what is in each stack; raise and qsort have functions of their own.
		want []string
	}{
		{"position-independent", nil, "call", CPU, []string{whole + "main "}},
		{"at a fixed address", []string{"-no-pie"}, "call", CPU, []string{whole + "main "}},
		{"static", []string{"-static"}, "call", CPU, []string{whole + "main "}},
		{"called by libc", nil, "sort", CPU, []string{"f10 compare ", "qsort", " main "}},
		{"in a handler of a signal", nil, "signal", CPU, []string{"f10 handle ", " main "}},
		{"of a thread", nil, "thread", CPU, []string{whole + "start "}},
		{"asleep in libc", nil, "sleep", OffCPU, []string{"nanosleep ", whole + "main "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			binary := compile(t, c.flags...)
			o := Options{Command: []string{binary, c.arg}, Kinds: []Kind{c.kind}, Frequency: 500, Unwind: DWARF}
			stacks, cut := stacksOf(record(t, o), c.kind, "f10")
			if len(stacks) == 0 || cut > 0 {
				t.Errorf("%d of %d stacks are cut off", cut, len(stacks))
			}
			has := func(stack []string) bool {
				text := strings.Join(stack, " ") + " "
				return !slices.ContainsFunc(c.want, func(w string) bool { return !strings.Contains(text, w) })
			}
			for _, s := range stacks {
				if !has(s) {
					t.Errorf("got %v, want %q", s, c.want)
				}
			}
			if c.flags != nil {
				return
			}
			o.Unwind = FramePointers
			stacks, _ = stacksOf(record(t, o), c.kind, "f10")
			if slices.ContainsFunc(stacks, has) {
				t.Errorf("the callers are found by frame pointers, too: %v", stacks)
			}
		})
	}
}

// A stack that is deeper than what is copied of it is cut off, and says so.
func TestStacksDeeperThanTheCopy(t *testing.T) {
	binary := compile(t)
	p := record(t, Options{Command: []string{binary, "deep"}, Kinds: []Kind{CPU}, Frequency: 500, Unwind: DWARF})
	stacks, cut := stacksOf(p, CPU, "f10")
	if len(stacks) == 0 || cut != len(stacks) {
		t.Errorf("%d of %d stacks are cut off, in %d samples", cut, len(stacks), len(p.Samples))
	}
	for _, s := range stacks {
		if s[0] != "f10" || s[1] != "deep" || s[len(s)-1] != "deep" {
			t.Errorf("got %v", s)
		}
	}
}

// Go keeps frame pointers, which lead from one stack of a thread to the other.
func TestStacksOfGo(t *testing.T) {
	sleeper := build(t, "./testdata/sleeper")
	p := record(t, Options{Command: []string{sleeper}, Kinds: []Kind{OffCPU}, Unwind: DWARF})
	stacks, cut := stacksOf(p, OffCPU, "main.long")
	if len(stacks) == 0 || cut > 0 {
		t.Errorf("%d of %d stacks are cut off", cut, len(stacks))
	}
	for _, s := range stacks {
		if !slices.Contains(s, "main.main") || s[len(s)-1] != "runtime.goexit.abi0" && s[len(s)-1] != "runtime.goexit" {
			t.Errorf("got %v", s)
		}
	}
}
