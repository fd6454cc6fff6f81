//go:build linux

package profile

import (
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/testenv"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

// busy compiles testdata/busy.
func busy(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Root(t)
	testenv.Tools(t, "gcc")
	binary := filepath.Join(t.TempDir(), "busy")
	args := append([]string{"-g", "-O1", "-fno-omit-frame-pointer", "-o", binary, "testdata/busy/busy.c"}, flags...)
	if out, err := exec.CommandContext(t.Context(), "gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// innermost returns how many samples have a function of user space as their innermost one,
// by its name, and how many samples there are in user space.
func innermost(p *Profile) (counts map[string]int, all int) {
	counts = map[string]int{}
	for _, s := range p.Samples {
		for _, l := range s.Stack.Locations {
			if !l.Kernel {
				counts[l.Frames[0].Func]++
				all++
				break
			}
		}
	}
	return counts, all
}

// mostly fails unless nine of ten samples, and there are some, are in a function.
func mostly(t *testing.T, p *Profile, name string) {
	t.Helper()
	if counts, all := innermost(p); all < 10 || counts[name] < all*9/10 {
		t.Errorf("%d of %d samples are in %q: %v", counts[name], all, name, counts)
	}
}

// A process that ends before its first sample is a profile.
func TestACommandThatEndsAtOnce(t *testing.T) {
	testenv.Long(t, "starts the profiler five times")
	testenv.Root(t)
	for range 5 {
		p := record(t, Options{Command: []string{"true"}, Kinds: []Kind{CPU, OffCPU, Disk, Fault}})
		for _, s := range p.Samples {
			if s.Thread.Process != "true" {
				t.Errorf("a sample of %q", s.Thread.Process)
			}
		}
	}
}

// Children take no room in the kernel's tables once they have ended: of more than there is
// room for, none is lost. They are named by what they had mapped.
func TestTenThousandChildren(t *testing.T) {
	testenv.Long(t, "starts 10,000 processes")
	testenv.Root(t)
	p := record(t, Options{Command: []string{"sh", "-c", "i=0; while [ $i -lt 10000 ]; do (:); i=$((i+1)); done"}, Kinds: []Kind{CPU, OffCPU}})
	if p.Lost[CPU] != 0 || p.Lost[OffCPU] != 0 || len(p.Samples) == 0 {
		t.Errorf("of %d samples, lost %v", len(p.Samples), p.Lost)
	}
	if !slices.ContainsFunc(p.Samples, func(s Sample) bool {
		return slices.ContainsFunc(s.Stack.Locations, func(l *Location) bool { return !l.Kernel && strings.Contains(l.Module, "/libc") })
	}) {
		t.Errorf("of %d samples of %d threads none is in libc", len(p.Samples), len(p.Threads))
	}
}

// Without symbols, functions are addresses in their file, and their callers are known.
func TestAStrippedBinary(t *testing.T) {
	p := record(t, Options{Command: []string{busy(t, "-s")}, Kinds: []Kind{CPU}, Frequency: 1000})
	mostly(t, p, "")
	for _, f := range p.Functions(CPU) {
		if strings.HasPrefix(f.Name, "busy+0x") {
			return
		}
	}
	t.Errorf("no function is an address of the file: %+v", p.Functions(CPU))
}

// Debug information that is noise leaves the names of the symbols.
func TestACorruptBinary(t *testing.T) {
	binary := busy(t, "-Wl,--build-id=none")
	const seed = 7
	for _, section := range []string{".debug_info", ".debug_abbrev", ".debug_line"} {
		spoil(t, binary, section, rand.NewChaCha8([32]byte{seed}))
	}
	mostly(t, record(t, Options{Command: []string{binary}, Kinds: []Kind{CPU}, Frequency: 1000}), "spin")
}

// spoil overwrites a section of a file with noise.
func spoil(t *testing.T, path, section string, noise *rand.ChaCha8) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(section)
	if s == nil {
		t.Fatalf("%s has no %s", path, section)
	}
	offset, data := int64(s.Offset), make([]byte, s.FileSize)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = noise.Read(data) // it never fails
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.WriteAt(data, offset)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Code that is in no file, and in no perf map, is without a name; its callers have theirs.
func TestCodeInNoFile(t *testing.T) {
	p := record(t, Options{Command: []string{busy(t), "copy"}, Kinds: []Kind{CPU}, Frequency: 1000})
	mostly(t, p, "")
	called := 0
	for _, s := range p.Samples {
		for i, l := range s.Stack.Locations {
			if i > 0 && l.Frames[0].Func == "main" && s.Stack.Locations[i-1].Frames[0].Func == "" {
				called++
			}
		}
	}
	if called < len(p.Samples)*9/10 {
		t.Errorf("main calls it in %d of %d samples", called, len(p.Samples))
	}
}

// What takes more than there is room for has no names, and a warning says so.
func TestNamesBeyondTheBudget(t *testing.T) {
	testenv.Root(t)
	var pc [1]uintptr
	runtime.Callers(1, pc[:])
	for _, c := range []struct {
		size  int64
		warns int
		name  string
	}{
		{budget.Default, 0, "internal/profile.TestNamesBeyondTheBudget"}, {1 << 10, 1, ""},
	} {
		r := newRecording(Options{Frequency: 1})
		r.known.budget = budget.New(c.size)
		r.known.read(os.Getpid())
		r.samples = []sampled{{Sample: perfprofiler.Sample{PID: uint32(os.Getpid()), User: []uint64{uint64(pc[0])}}}}
		p := new(Profile)
		notes := r.resolve(p)
		if name := p.Samples[0].Stack.Locations[0].Frames[0].Func; !strings.HasSuffix(name, c.name) || c.name == "" && name != "" {
			t.Errorf("within %d bytes, it is %q", c.size, name)
		}
		if len(notes) != c.warns || c.warns > 0 && (!notes[0].Warn || !strings.Contains(notes[0].Text, "some functions have no names") || notes[0].Hint == "") {
			t.Errorf("within %d bytes: %+v", c.size, notes)
		}
		if err := r.known.close(); err != nil {
			t.Error(err)
		}
	}
}

// Samples and events beyond what a recording may take are lost, and counted.
func TestRecordingsAreBounded(t *testing.T) {
	r := newRecording(Options{All: true})
	r.room = budget.New(100 << 10)
	const sent = 1000
	for range sent {
		r.sampled(perfprofiler.Sample{Kind: perfprofiler.OffCPU, User: make([]uint64, 10)})
		r.happened(sideband.Event{Kind: sideband.Named, PID: 1, Name: "name"})
	}
	if n := len(r.samples); n == 0 || n > sent/2 || n+int(r.lost[OffCPU]) != sent {
		t.Errorf("%d samples are kept, %v are lost", n, r.lost)
	}
	if n := len(r.events); n == 0 || n > sent/2 || n+int(r.lostEvents) != sent {
		t.Errorf("%d events are kept, %d are lost", n, r.lostEvents)
	}
}

// Samples that a full buffer lost are a warning with their share.
func TestLostSamplesAreAWarning(t *testing.T) {
	p := small()
	p.Lost = map[Kind]uint64{OffCPU: 6}
	notes := p.problems()
	if len(notes) != 1 || !notes[0].Warn || notes[0].Text != "6 of 10 off-cpu samples were lost, because the buffer was full" || notes[0].Hint == "" {
		t.Errorf("got %+v", notes)
	}
}
