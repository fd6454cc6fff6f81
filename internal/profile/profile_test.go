package profile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/unit"
)

const ms = time.Millisecond

// small is a profile of a thread that works, an inlined function included, of another that
// sleeps, and of one of the Go runtime without work.
func small() *Profile {
	main := &Thread{PID: 7, TID: 7, Name: "agent", Process: "agent"}
	worker := &Thread{PID: 7, TID: 8, Name: "worker; 1", Process: "agent"}
	at := func(module string, address uint64, frames ...Frame) *Location {
		return &Location{Module: module, Address: address, Kernel: module == "[kernel]", Frames: frames}
	}
	start := at("/bin/agent", 0x10, Frame{Func: "main", File: "/src/agent.c", Line: 12})
	work := at("/bin/agent", 0x20, Frame{Func: "leaf", File: "/src/agent.h", Line: 3, Inlined: true}, Frame{Func: "work", File: "/src/agent.c", Line: 30})
	copies := at("/lib/libc.so.6", 0x99, Frame{})
	nap := at("/bin/agent", 0x30, Frame{Func: "nap", File: "/src/agent.c", Line: 40})
	nanosleep := at("/lib/libc.so.6", 0x200, Frame{Func: "clock_nanosleep"})
	schedule, sleep := at("[kernel]", 0xffffffff81000000, Frame{Func: "schedule"}), at("[kernel]", 0xffffffff81000100, Frame{Func: "do_nanosleep"})
	park := at("/bin/agent", 0x40, Frame{Func: "runtime.futex", File: "/usr/local/go/src/runtime/sys_linux_amd64.s", Line: 5})
	stop := at("/bin/agent", 0x50, Frame{Func: "runtime.stopm", File: "/usr/local/go/src/runtime/proc.go", Line: 2})
	working, copying := &Stack{Locations: []*Location{work, start}}, &Stack{Locations: []*Location{copies, start}, Cut: true}
	asleep, idle := &Stack{Locations: []*Location{schedule, sleep, nanosleep, nap, start}}, &Stack{Locations: []*Location{schedule, park, stop}}
	return &Profile{
		Command: []string{"./agent", "<once>"}, Start: time.Unix(1700000000, 0), Duration: time.Second, Frequency: 100,
		Sources: map[Kind]string{CPU: "cpu-clock", OffCPU: "sched_switch", Disk: "block_rq_complete"},
		Threads: []*Thread{main, worker},
		Samples: []Sample{
			{Kind: CPU, Thread: main, Time: 10 * ms, Took: 10 * ms, Stack: working},
			{Kind: CPU, Thread: main, Time: 20 * ms, Took: 10 * ms, Stack: working},
			{Kind: CPU, Thread: main, Time: 30 * ms, Took: 10 * ms, Stack: copying},
			{Kind: Disk, Thread: main, Time: 35 * ms, Took: 2 * ms, Stack: working, Request: &Request{Bytes: 4096}},
			{Kind: OffCPU, Thread: worker, Time: 500 * ms, Took: 400 * ms, Stack: asleep},
			{Kind: OffCPU, Thread: worker, Time: 800 * ms, Took: 200 * ms, Stack: asleep},
			{Kind: OffCPU, Thread: worker, Time: 810 * ms, Took: 5 * ms, Stack: working, Preempted: true},
			{Kind: OffCPU, Thread: worker, Time: 900 * ms, Took: 900 * ms, Stack: idle},
		},
	}
}

func TestFunctions(t *testing.T) {
	got := small().Functions(CPU)
	want := []Function{
		{Name: "leaf", Module: "/bin/agent", File: "/src/agent.h", Line: 3, Self: 20 * ms, Total: 20 * ms},
		{Name: "libc.so.6+0x99", Module: "/lib/libc.so.6", Self: 10 * ms, Total: 10 * ms},
		{Name: "main", Module: "/bin/agent", Total: 30 * ms},
		{Name: "work", Module: "/bin/agent", Total: 20 * ms},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("function %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

// A function that calls itself has its time once in its total.
func TestRecursionCountsOnce(t *testing.T) {
	l := &Location{Module: "/bin/x", Frames: []Frame{{Func: "f"}}}
	p := &Profile{Samples: []Sample{{Kind: CPU, Thread: &Thread{}, Took: ms, Stack: &Stack{Locations: []*Location{l, l, l}}}}}
	if got := p.Functions(CPU); len(got) != 1 || got[0].Total != ms || got[0].Self != ms {
		t.Errorf("got %+v", got)
	}
}

// The line of the program that sleeps comes first, and idle threads last, however long
// they were.
func TestWaits(t *testing.T) {
	got := small().Waits()
	want := []Wait{
		{Name: "nap", File: "/src/agent.c", Line: 40, In: "clock_nanosleep", Took: 600 * ms, Longest: 400 * ms, Count: 2},
		{Name: "leaf", File: "/src/agent.h", Line: 3, In: "waiting for a CPU", Took: 5 * ms, Longest: 5 * ms, Count: 1},
		{Name: "runtime.stopm", In: "runtime.stopm", Took: 900 * ms, Longest: 900 * ms, Count: 1, Idle: true},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("wait %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestCutStacks(t *testing.T) {
	modules, cut, all := small().CutStacks()
	if cut != 1 || all != 8 || len(modules) != 1 || modules[0].Module != "/bin/agent" {
		t.Errorf("%d of %d: %+v", cut, all, modules)
	}
}

func TestFolded(t *testing.T) {
	var b bytes.Buffer
	if err := small().WriteFolded(&b); err != nil {
		t.Fatal(err)
	}
	const want = `cpu;agent;main;libc.so.6+0x99 10000
cpu;agent;main;work;leaf 20000
disk;agent;main;work;leaf 2000
off-cpu;worker: 1;main;nap;clock_nanosleep;do_nanosleep_[k];schedule_[k] 600000
off-cpu;worker: 1;main;work;leaf 5000
off-cpu;worker: 1;runtime.stopm;runtime.futex;schedule_[k] 900000
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// Names cannot end a line, begin another function or move a cursor.
func TestFoldedNamesAreHarmless(t *testing.T) {
	s := &Stack{Locations: []*Location{{Frames: []Frame{{Func: "a;b\n\x1b[31m\rc\x07"}}}}}
	if got := s.Folded("cpu", "t\n;"); got != "cpu;t :;a:b \ufffd[31m\ufffdc\ufffd" {
		t.Errorf("%q", got)
	}
}

func TestPprof(t *testing.T) {
	var b bytes.Buffer
	if err := small().WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	var types []string
	for _, st := range p.SampleType {
		types = append(types, st.Type)
	}
	if got := strings.Join(types, " "); got != "samples cpu off-cpu disk" {
		t.Errorf("types %s", got)
	}
	for i, want := range []int64{8, int64(30 * ms), int64(1505 * ms), int64(2 * ms)} {
		if sums[i] != want {
			t.Errorf("%s: %d, want %d", types[i], sums[i], want)
		}
	}
	if lines := p.Location[0].Line; len(lines) != 2 || lines[0].Function.Name != "leaf" || lines[1].Function.Name != "work" {
		t.Errorf("the inlined function is not first: %+v", lines)
	}
}

// The picture is XML that names each function with its time, and nothing of a stranger's
// name is markup.
func TestFlameGraph(t *testing.T) {
	p := small()
	p.Threads[0].Name = `<script>alert("&")</script>`
	var b bytes.Buffer
	if err := p.Flame().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"<title>nap: 600 ms, 39%</title>", "<title>all: 1.54 s, 100%</title>", "&lt;script&gt;", "./agent &lt;once&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Count(text, "<script>") != 1 {
		t.Error("a name is markup")
	}
}

// There are no more functions in a picture, and no longer names, than a browser can show.
func TestLargeFlameGraph(t *testing.T) {
	const deep, wide = 3000, 40
	f := NewFlameDiff("change", unit.NS)
	for w := range wide {
		l := &Location{Module: "x", Frames: []Frame{{Func: strings.Repeat(string(rune('A'+w)), 1000)}}}
		f.Add("cpu", "", &Stack{Locations: slices.Repeat([]*Location{l}, deep)}, 0, int64(1+w%2*3))
	}
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<g "); n < deep*wide/2 || n > deep*wide/2+2 {
		t.Errorf("%d functions, want the %d wider ones", n, deep*wide/2)
	}
	if n := len(slices.MaxFunc(strings.Split(b.String(), "\n"), func(a, b string) int { return len(a) - len(b) })); n > 3*flameName {
		t.Errorf("a function takes %d letters", n)
	}
}

// A flame graph of a change is as wide as what is now, and says what it was before.
func TestFlameDiff(t *testing.T) {
	f := NewFlameDiff("change", unit.NS)
	for i, s := range small().Samples {
		before := int64(0)
		if i < 4 {
			before = int64(s.Took)
		}
		f.Add(s.Kind.String(), s.Thread.Name, s.Stack, before, int64(s.Took))
	}
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>nap: 600 ms, 39%, +600 ms</title>", "<title>cpu: 30.0 ms, 2%, unchanged</title>", "fill:rgb(236,80,66)", "fill:rgb(228,228,222)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
}
