package firefox

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// small is a profile with a sample of each kind, an inlined function and one without a
// name.
func small() *profile.Profile {
	main := &profile.Thread{PID: 7, TID: 7, Name: "agent", Process: "agent"}
	other := &profile.Thread{PID: 7, TID: 8, Name: "worker", Process: "agent"}
	outer := &profile.Location{Module: "/bin/agent", BuildID: "0123456789abcdef0123456789abcdef01234567", Address: 0x1010, Frames: []profile.Frame{{Func: "main", File: "/src/agent.c", Line: 12}}}
	inlined := &profile.Location{Module: "/bin/agent", Address: 0x1100, Frames: []profile.Frame{{Func: "leaf", File: "/src/agent.h", Line: 3, Inlined: true}, {Func: "work", File: "/src/agent.c", Line: 30}}}
	nameless := &profile.Location{Module: "/lib/libx.so", Address: 0x99, Frames: []profile.Frame{{}}}
	sleep := &profile.Location{Module: "[kernel]", Address: 0xffffffff81000000, Kernel: true, Frames: []profile.Frame{{Func: "do_nanosleep"}}}
	busy, asleep := &profile.Stack{Locations: []*profile.Location{inlined, outer}}, &profile.Stack{Locations: []*profile.Location{sleep, nameless, outer}}
	const ms = time.Millisecond
	return &profile.Profile{
		Command: []string{"./agent"}, Start: time.Unix(1700000000, 0), Duration: time.Second, Frequency: 100, Kernel: "6.12.0",
		Sources: map[profile.Kind]string{profile.CPU: "cpu-clock", profile.OffCPU: "sched_switch", profile.Disk: "block_rq_complete", profile.Fault: "page_fault_user"},
		Threads: []*profile.Thread{main, other},
		Samples: []profile.Sample{
			{Kind: profile.CPU, Thread: main, Time: 10 * ms, Took: 10 * ms, Stack: busy},
			{Kind: profile.CPU, Thread: main, Time: 20 * ms, Took: 10 * ms, Stack: busy},
			{Kind: profile.Disk, Thread: main, Time: 25 * ms, Took: 2 * ms, Stack: asleep, Request: &profile.Request{Major: 8, Minor: 1, Sector: 2048, Bytes: 4096, Write: true}},
			{Kind: profile.Fault, Thread: other, Time: 26 * ms, Stack: busy, Address: 0xdead},
			// It began before the first sample.
			{Kind: profile.OffCPU, Thread: main, Time: 520 * ms, Took: 515 * ms, Stack: asleep},
			{Kind: profile.OffCPU, Thread: other, Time: 900 * ms, Took: 800 * ms, Stack: &profile.Stack{}},
		},
	}
}

func TestTablesAreWhole(t *testing.T) {
	f := Convert(small(), Options{Source: func(_ symbol.Origin, path string) (string, bool) { return "text of " + path, path == "/src/agent.c" }})
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	s := &f.Shared
	if got := f.Threads[0].Samples.Time; len(got) != 3 || got[0] != 0 || got[1] != 5 || got[2] != 10 {
		t.Errorf("samples start at %v", got)
	}
	if got := f.Threads[0].Samples.Weight; got[1] != 515 {
		t.Errorf("weights in ms are %v", got)
	}
	depths := map[string]int{}
	for i, fn := range s.Frames.Func {
		depths[s.Strings[s.Funcs.Name[fn]]] = s.Frames.InlineDepth[i]
	}
	if depths["leaf"] != 1 || depths["work"] != 0 || depths["main"] != 0 {
		t.Errorf("depths are %v", depths)
	}
	if _, ok := depths["0x99"]; !ok {
		t.Errorf("no function is called by its address: %v", depths)
	}
	contents := map[string]*string{}
	for i, name := range s.Sources.Filename {
		contents[s.Strings[name]] = s.Sources.Content[i]
	}
	if text := contents["/src/agent.c"]; text == nil || *text != "text of /src/agent.c" {
		t.Error("agent.c is not embedded")
	}
	if contents["/src/agent.h"] != nil {
		t.Error("agent.h has a text")
	}
	if got := f.Libs[0].BreakpadID; got != "67452301AB89EFCD0123456789ABCDEF0" {
		t.Errorf("identifier %s", got)
	}
}

// A server of symbols is asked for the code of a function by the identifiers of its file, and
// from its start on.
func TestFunctionsHaveWhatASymbolServerIsAskedFor(t *testing.T) {
	p := small()
	main := p.Samples[0].Stack.Locations[1]
	main.Start, main.End = 0x1000, 0x1040
	f := Convert(p, Options{})
	agent, none := f.Libs[0], f.Libs[1]
	if agent.DebugName != "agent" || agent.CodeID == nil || *agent.CodeID != main.BuildID || none.CodeID != nil {
		t.Errorf("libraries %+v", f.Libs)
	}
	s := &f.Shared
	for i, name := range s.Symbols.Name {
		address, size := s.Symbols.Address[i], s.Symbols.Size[i]
		switch s.Strings[name] {
		case "main":
			if address != 0x1000 || size == nil || *size != 0x40 {
				t.Errorf("main is at %#x, size %v", address, size)
			}
		case "work":
			if address != 0x1100 || size != nil {
				t.Errorf("work is at %#x, size %v", address, size)
			}
		}
	}
}

// A sample without any stack has no place in the table of stacks.
func TestSamplesWithoutStackAreNull(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, small(), Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Threads []struct {
			Samples struct{ Stack []*int }
		}
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		t.Fatal(err)
	}
	if stack := file.Threads[1].Samples.Stack; len(stack) != 1 || stack[0] != nil {
		t.Errorf("stacks are %v", stack)
	}
}

// The text of a file is in a profile if the owner of the binary that names it may read it.
func TestSourcesOfAnotherUser(t *testing.T) {
	testenv.Root(t)
	testenv.Tools(t, "go", "setpriv")
	const user = 54321
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	testenv.Write(t, path("main.go"), fmt.Appendf(nil, `package main

import "time"

func spin(until time.Time, n *int) {
	for time.Now().Before(until) {
		for range 1000 {
			*n++
		}
	}
}

func main() {
	n := 0
	names(time.Now().Add(300*time.Millisecond), &n)
	admits(time.Now().Add(300*time.Millisecond), &n)
}

//line %s:1
//go:noinline
func names(until time.Time, n *int) { spin(until, n) }

//line %s:1
//go:noinline
func admits(until time.Time, n *int) { spin(until, n) }
`, path("secret"), path("own.go")))
	if out, err := exec.Command("go", "build", "-o", path("agent"), path("main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testenv.Write(t, path("secret"), []byte("what root alone may read"))
	testenv.Write(t, path("own.go"), []byte("what the user wrote"))
	for name, mode := range map[string]os.FileMode{"secret": 0o600, "own.go": 0o600, "agent": 0o755} {
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"own.go", "agent"} {
		if err := os.Chown(path(name), user, user); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := profile.Options{
		Command: []string{"setpriv", "--reuid", strconv.Itoa(user), "--clear-groups", path("agent")}, Frequency: 1000, Kinds: []profile.Kind{profile.CPU},
	}.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, found := Convert(p, Options{Source: ReadSource}).Shared, map[string]string{}
	for i, name := range s.Sources.Filename {
		text := "nothing"
		if s.Sources.Content[i] != nil {
			text = *s.Sources.Content[i]
		}
		found[s.Strings[name]] = text
	}
	if text := found[path("own.go")]; text != "what the user wrote" {
		t.Errorf("the user's own file: %q", text)
	}
	if text := found[path("secret")]; text != "nothing" {
		t.Errorf("the file of root: %q", text)
	}
}

// A function that two users run is shown with the text that one of them may read, and all texts
// together are bounded.
func TestSourcesOfTwoUsers(t *testing.T) {
	p := small()
	l := p.Samples[0].Stack.Locations[1]
	for i, name := range []string{"/src/agent.c", "/src/other.c"} {
		mine := *l
		mine.Origin, mine.Frames = symbol.Public, []profile.Frame{{Func: l.Frames[0].Func, File: name}}
		theirs := mine
		theirs.Origin = symbol.OfUser(nil, 54321)
		p.Samples[2*i].Stack = &profile.Stack{Locations: []*profile.Location{&theirs}}
		p.Samples[2*i+1].Stack = &profile.Stack{Locations: []*profile.Location{&mine}}
	}
	p.Samples = p.Samples[:4]
	large := strings.Repeat("x", maxText/2+1)
	s := Convert(p, Options{Source: func(o symbol.Origin, path string) (string, bool) { return large, o == symbol.Public }}).Shared
	shown := map[string]int{}
	for i := range s.Funcs.Name {
		if text := s.Sources.Content[*s.Funcs.Source[i]]; text != nil {
			shown[s.Strings[s.Sources.Filename[*s.Funcs.Source[i]]]] = len(*text)
		}
	}
	if len(shown) != 1 || shown["/src/agent.c"] != len(large) {
		t.Errorf("shown are %v", shown)
	}
}

// What was recorded on this kernel makes whole tables, too.
func TestTablesOfARecordedProfileAreWhole(t *testing.T) {
	testenv.Root(t)
	p, _, err := profile.Options{
		Command: []string{"sh", "-c", "i=0; while [ $i -lt 200 ]; do (:); i=$((i+1)); done; sleep 0.05"}, Frequency: 1000,
		Kinds: []profile.Kind{profile.CPU, profile.OffCPU, profile.Disk, profile.Fault},
	}.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := Convert(p, Options{Source: ReadSource})
	if err := f.check(); err != nil {
		t.Error(err)
	}
	samples, markers := 0, 0
	for i := range f.Threads {
		samples, markers = samples+f.Threads[i].Samples.Length, markers+f.Threads[i].Markers.Length
	}
	if samples == 0 || markers == 0 || samples+markers != len(p.Samples) {
		t.Errorf("%d samples and %d markers of %d samples", samples, markers, len(p.Samples))
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for name, spoil := range map[string]func(*File){
		"a short column":          func(f *File) { f.Shared.Frames.Line = f.Shared.Frames.Line[1:] },
		"a frame that is absent":  func(f *File) { f.Shared.Stacks.Frame[0] = 99 },
		"a caller after":          func(f *File) { f.Shared.Stacks.PrefixOffset[1] = -1 },
		"a root before all":       func(f *File) { f.Shared.Stacks.PrefixOffset[0] = 1 },
		"a time that goes back":   func(f *File) { f.Threads[0].Samples.Time[1] = -3 },
		"a cause that is absent":  func(f *File) { f.Threads[0].Markers.Data[0] = disk{Cause: &cause{1000}} },
		"a string that is absent": func(f *File) { f.Shared.Funcs.Name[0] = 1000 },
	} {
		f := Convert(small(), Options{})
		spoil(f)
		if f.check() == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
}
