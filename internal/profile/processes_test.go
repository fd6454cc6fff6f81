//go:build linux

package profile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/testenv"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

func (p *process) String() string {
	var parts []string
	p.maps.Scan(func(_ uint64, m *mapping) bool {
		parts = append(parts, fmt.Sprintf("%s:%d-%d+%d", m.Path, m.Start, m.End, m.Offset))
		return true
	})
	return strings.Join(parts, " ")
}

// A mapping replaces what it covers.
func TestMappingsReplaceWhatTheyCover(t *testing.T) {
	for _, c := range []struct {
		add  []sideband.Mapping
		want string
	}{
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 30, End: 40, Path: "b"}}, "a:10-20+0 b:30-40+0"},
		{[]sideband.Mapping{{Start: 30, End: 40, Path: "b"}, {Start: 10, End: 20, Path: "a"}}, "a:10-20+0 b:30-40+0"},
		{[]sideband.Mapping{{Start: 10, End: 40, Path: "a"}, {Start: 20, End: 30, Path: "b"}}, "a:10-20+0 b:20-30+0 a:30-40+20"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 20, End: 30, Path: "b"}, {Start: 15, End: 25, Path: "c"}}, "a:10-15+0 c:15-25+0 b:25-30+5"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 10, End: 20, Path: "b"}}, "b:10-20+0"},
		{[]sideband.Mapping{{Start: 12, End: 14, Path: "a"}, {Start: 16, End: 18, Path: "b"}, {Start: 10, End: 20, Path: "c"}}, "c:10-20+0"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 10, End: 15, Path: "b"}}, "b:10-15+0 a:15-20+5"},
	} {
		p := newProcess()
		for _, m := range c.add {
			p.add(&mapping{Mapping: m})
		}
		if got := fmt.Sprint(p); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A stack goes on for as long as its addresses are mapped: the next one is of a register
// that a function used for something else.
func TestStacksEndWhereNothingIsMapped(t *testing.T) {
	k := newProcesses(false)
	k.byPID[1] = newProcess()
	k.byPID[1].add(&mapping{Mapping: sideband.Mapping{Start: 10, End: 20, Path: "//anon"}})
	n := newNamer(k)
	s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 1, User: []uint64{15, 16, 999, 12}}})
	// What is in no file and has no name is one location.
	if len(s.Locations) != 2 || s.Locations[0].Address != 10 || s.Locations[1] != s.Locations[0] || !s.Cut {
		t.Errorf("%d locations, cut %t", len(s.Locations), s.Cut)
	}
	if s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 2, User: []uint64{15, 16, 999}}}); len(s.Locations) != 3 {
		t.Errorf("%d locations of an unknown process", len(s.Locations))
	}
	if s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 1, User: []uint64{999, 12}}}); len(s.Locations) != 2 {
		t.Errorf("%d locations of a thread that runs nowhere", len(s.Locations))
	}
}

// However deep and different stacks are, there is a bound to them: what there is no room for is
// in fewer stacks, and in fewer locations, but no sample is lost.
func TestStacksAreBounded(t *testing.T) {
	inlined := make([]Frame, 512)
	for i := range inlined {
		inlined[i].Func = "f"
	}
	n := newNamer(newProcesses(false))
	n.known.budget = budget.New(int64(10 * locationSize))
	sampledAt := func(addrs ...uint64) *Stack {
		return n.stack(sampled{Sample: perfprofiler.Sample{PID: 1, User: addrs}})
	}
	for addr := range uint64(10) {
		n.locations[locationKey{name: "[unknown]", lookup: addr, pid: 1}] = &Location{number: addr + 1, Frames: inlined}
	}
	if s := sampledAt(9, 9, 9, 9, 9, 9); len(s.Locations) != maxFrames/512 || !s.Cut {
		t.Errorf("%d locations of %d functions", len(s.Locations), maxFrames)
	}
	n.room = budget.New(3*512*(frameSize+1) - 1)
	if s := sampledAt(1, 3); len(s.Locations) != 2 {
		t.Errorf("%d locations", len(s.Locations))
	}
	for range 2 {
		if s := sampledAt(1, 4); len(s.Locations) != 1 || s.Locations[0].number != 2 || !s.Cut || s != sampledAt(1, 5) {
			t.Errorf("without room, %d locations, cut %t", len(s.Locations), s.Cut)
		}
	}
	if !n.room.Exceeded() || n.known.budget.Exceeded() {
		t.Error("it is not known for what there was no room")
	}
	before := len(n.locations)
	for addr := uint64(1000); addr < 2000; addr++ {
		s := sampledAt(addr)
		if l := s.Locations[0]; l.Address != addr && l.Name(l.Frames[0].Func) != "[others]" {
			t.Fatalf("%+v", l)
		}
	}
	if more := len(n.locations) - before; more != 10+1 {
		t.Errorf("%d locations, where there is room for 10", more)
	}
}

// A child has what its parent had mapped, until it executes another file.
func TestChildrenInherit(t *testing.T) {
	k := newProcesses(false)
	k.wanted[1] = true
	for _, e := range []sideband.Event{
		{Kind: sideband.Mapped, PID: 1, TID: 1, Mapping: sideband.Mapping{Start: 10, End: 20, Path: "a"}},
		{Kind: sideband.Named, PID: 1, TID: 1, Name: "parent"},
		{Kind: sideband.Forked, PID: 2, TID: 2, Parent: 1},
		{Kind: sideband.Forked, PID: 1, TID: 3, Parent: 1}, // a thread
		{Kind: sideband.Named, PID: 1, TID: 3, Name: "thread"},
		{Kind: sideband.Forked, PID: 9, TID: 9, Parent: 8}, // of a stranger
	} {
		seen, ok := k.see(e)
		if ok != (e.PID != 9) {
			t.Errorf("%+v: wanted is %t", e, e.PID == 9)
			continue
		}
		k.apply(seen)
	}
	if m := k.at(2, 15); m == nil || m.Path != "a" || k.name(2) != "parent" {
		t.Errorf("the child %q has %+v", k.name(2), m)
	}
	if k.name(1) != "parent" {
		t.Errorf("a thread gives its process the name %q", k.name(1))
	}
	if k.at(1, 15) == nil {
		t.Error("a new thread took the mappings of its process")
	}
	k.apply(event{Event: sideband.Event{Kind: sideband.Mapped, PID: 2, Mapping: sideband.Mapping{Start: 12, End: 18, Path: "b"}}})
	if m := k.at(1, 15); m == nil || m.Path != "a" || k.at(2, 15).Path != "b" {
		t.Errorf("what the child maps, its parent has: %+v", m)
	}
	k.apply(event{Event: sideband.Event{Kind: sideband.Named, PID: 2, TID: 2, Name: "child", Exec: true}})
	if k.at(2, 15) != nil || k.at(1, 15) == nil || k.name(2) != "child" {
		t.Error("executing a file changes what the wrong process has mapped")
	}
}

// startSleep starts sleep as a user, and returns the first file that it has mapped to execute it.
// The kernel says that a program is started before it has mapped its file.
func startSleep(t *testing.T, user uint32) (*os.Process, sideband.Mapping) {
	t.Helper()
	sleep := exec.Command("sleep", "60")
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait() // it was killed
	})
	for range 10_000 {
		maps, err := readMaps(sleep.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(maps, func(m sideband.Mapping) bool { return m.Inode != 0 }); i >= 0 {
			return sleep.Process, maps[i]
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("sleep maps no file")
	return nil, sideband.Mapping{}
}

// Whose a process was is known when it has ended. Whose its child is, which has not been seen,
// and what it became by executing another file, is not known for sure.
func TestHomeOfAnEndedProcess(t *testing.T) {
	testenv.Root(t)
	const alice = 54321
	sleep, file := startSleep(t, alice)
	pid := uint32(sleep.Pid)
	k := newProcesses(true)
	defer k.close()
	see := func(e sideband.Event) *module {
		e.PID, e.TID = max(e.PID, pid), max(e.PID, pid)
		seen, ok := k.see(e)
		if !ok {
			t.Fatalf("%+v is not seen", e)
		}
		return seen.module
	}
	mapped := sideband.Event{Kind: sideband.Mapped, Mapping: file}
	hers := see(mapped)
	_ = sleep.Kill()
	_, _ = sleep.Wait()   // it was killed
	const child = 1 << 30 // no process has such a number
	see(sideband.Event{Kind: sideband.Forked, PID: child, Parent: pid})
	if h := k.home(pid); h == nil || h.User != alice || h.Number != int(pid) || h.old {
		t.Errorf("the process: %+v", h)
	}
	if again := see(mapped); again != hers || hers.binary == nil {
		t.Errorf("its file is opened again, or was not: %+v", hers)
	}
	if h := k.home(child); h == nil || h.User != alice || h.Number != child || !h.old {
		t.Errorf("the child: %+v", h)
	}
	see(sideband.Event{Kind: sideband.Named, Exec: true})
	if h := k.home(pid); h == nil || h.User != alice || !h.old {
		t.Errorf("the process with another file: %+v", h)
	}
	if another := see(mapped); another == hers || another.binary == nil {
		t.Errorf("what may be of another user is one with what is hers: %+v", another)
	}
}

// What is where the file of a mapping was is opened if everybody may read it, and if it is the
// same file: the process has ended, or it has executed another file, and is another user's.
func TestFileThatIsNotMapped(t *testing.T) {
	testenv.Root(t)
	const ended = 1 << 30
	dir, err := os.MkdirTemp("/dev/shm", "ebpf-bench") // with the device that the kernel says
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, path, text)
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	file := sideband.Mapping{Path: path, Inode: stat.Ino, Major: unix.Major(stat.Dev), Minor: unix.Minor(stat.Dev)}
	file.Start, file.End = 1<<12, 2<<12 // nobody has mapped it
	another, elsewhere := file, file
	another.Inode++
	elsewhere.Major += 1000
	for _, test := range []struct {
		name   string
		mode   os.FileMode
		mapped sideband.Mapping
		opens  bool
	}{
		{"the file", 0o755, file, true},
		{"one that only root may read", 0o700, file, false},
		{"another file", 0o755, another, false},
		{"a file of another device", 0o755, elsewhere, false},
	} {
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		for _, pid := range []int{ended, os.Getpid()} {
			k := newProcesses(true)
			m := k.open(uint32(pid), test.mapped)
			if opens := m.binary != nil; opens != test.opens {
				t.Errorf("%s, process %d: opened %t", test.name, pid, opens)
			}
			if m.binary != nil && m.binary.Origin() != publicly(t, path) {
				t.Errorf("%s, process %d: it counts as somebody's", test.name, pid)
			}
			if err := k.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// publicly returns the origin of what a file names if it is not known who runs it.
func publicly(t *testing.T, path string) symbol.Origin {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return symbol.Public.Of(f)
}

// What a process that has become another user's has mapped is nobody's word, also if its file
// is known from before. Whether one of root's became another user's before it ended is not known.
func TestProcessThatBecomesAnothers(t *testing.T) {
	testenv.Root(t)
	const alice = 54321
	sleep, file := startSleep(t, 0)
	pid := uint32(sleep.Pid)
	k := newProcesses(true)
	defer k.close()
	whose := func() string {
		m := k.open(pid, file)
		switch {
		case m.binary == nil:
			t.Fatalf("%s is not opened", m.path)
		case m.binary.Origin() == publicly(t, m.path):
			return "everybody's"
		}
		return "its user's"
	}
	home := k.home(pid)
	change := func(user uint32) { home.User = user }
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"became root's before its file was opened", func() { change(alice) }, "everybody's"},
		{"is root's", func() { change(0) }, "its user's"},
		{"left a group", func() { home.Groups = append(home.Groups, 7) }, "everybody's"},
		{"is in it", func() { home.Groups = home.Groups[:len(home.Groups)-1] }, "its user's"},
		{"has another root", func() { home.tree = symbol.Tree{} }, "everybody's"},
	} {
		step.do()
		if got := whose(); got != step.want {
			t.Errorf("%s: its word is %s", step.name, got)
		}
	}
	k.homes[pid].old = true
	if got := whose(); got != "its user's" {
		t.Errorf("read again, its word is %s", got)
	}
	_ = sleep.Kill()
	_, _ = sleep.Wait() // it was killed
	if got := whose(); got != "everybody's" {
		t.Errorf("it has ended, and its word is %s", got)
	}
}

// A process that keeps those waiting who ask about it is given up, and what it answers later is
// dropped.
func TestPatience(t *testing.T) {
	p := newPatience()
	p.left = time.Millisecond
	dropped, block := make(chan int), make(chan struct{})
	late := func(n int) { dropped <- n }
	ask := func() int { return 7 }
	if n, ok := await(p, 1, ask, late); n != 7 || !ok {
		t.Errorf("%d, %t", n, ok)
	}
	if n, ok := await(p, 2, func() int { <-block; return 8 }, late); n != 0 || ok {
		t.Errorf("of one that does not answer, %d, %t", n, ok)
	}
	close(block)
	if n := <-dropped; n != 8 {
		t.Errorf("%d is dropped", n)
	}
	if _, ok := await(p, 2, ask, late); ok {
		t.Error("it is asked again")
	}
	if _, ok := await(p, 1, ask, late); !ok || p.left != 0 {
		t.Errorf("another one: %t, %s are left", ok, p.left)
	}
	k := newProcesses(true)
	k.patience = p
	if notes := k.notes(); len(notes) != 1 {
		t.Errorf("%v", notes)
	}
}

// There is a bound to the files that are open, and it is told when there were more.
func TestOpenFilesAreBounded(t *testing.T) {
	testenv.Root(t)
	sleep, file := startSleep(t, 0)
	for _, most := range []int{0, 1} {
		k := newProcesses(true)
		k.mostOpen = most
		if m := k.open(uint32(sleep.Pid), file); (m.binary != nil) != (most == 1) || len(k.notes()) != 1-most {
			t.Errorf("of %d files, one is open: %t, notes %v", most, m.binary != nil, k.notes())
		}
		if err := k.close(); err != nil {
			t.Error(err)
		}
	}
}

// What a BPF program names is opened if everybody may read it: whoever loads one need not have
// written it.
func TestOriginOfBPFPrograms(t *testing.T) {
	kernel, err := symbol.ParseKallsyms(strings.NewReader("ffffffffc0000000 t bpf_prog_1234_filter\t[bpf]\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := newNamer(newProcesses(true))
	n.kernel = kernel
	if l := n.kernelAt(0xffffffffc0000010); l.Frames[0].Func != "bpf_prog_1234_filter" || l.Origin != symbol.Public {
		t.Errorf("%+v", l)
	}
}
