package firefox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// modules are the packages of testdata/viewer/package-lock.json.
const modules = "testdata/viewer/node_modules"

// viewer is the Firefox Profiler's own command line with a profile, as a process of its own
// that answers questions about it.
type viewer struct {
	home string
	log  *bytes.Buffer
}

const session = "test"

// command returns the viewer's command with arguments.
func (v *viewer) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), modules+"/.bin/node", append([]string{modules + "/@firefox-devtools/profiler-cli/dist/profiler-cli.js"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+v.home)
	return cmd
}

// view writes a profile, and lets the viewer load it.
func view(t *testing.T, p *profile.Profile) *viewer {
	t.Helper()
	if _, err := os.Stat(modules); err != nil {
		testenv.Missing(t, modules+": scripts/setup test installs it")
	}
	// The name of a socket is short.
	home, err := os.MkdirTemp("", "view")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	v := &viewer{home: home, log: &bytes.Buffer{}}
	file := filepath.Join(home, "profile.json.gz")
	var out bytes.Buffer
	if err := Write(&out, p, Options{Source: ReadSource}); err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, file, out.Bytes())
	server := v.command(t, "--daemon", file, "--session", session)
	server.Stdout, server.Stderr = v.log, v.log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})
	// A question to a viewer that does not listen yet ends its session.
	files := filepath.Join(home, ".profiler-cli", session)
	const patience = time.Minute
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 600) {
		_, err := os.Stat(files + ".json")
		if err == nil {
			var c net.Conn
			if c, err = net.Dial("unix", files+".sock"); err == nil {
				c.Close()
				return v
			}
		}
		select {
		case <-ended:
			t.Fatalf("the viewer ended: %s", v.log)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("the viewer does not answer: %v", err)
		}
	}
}

// ask decodes the viewer's answer to a question.
func (v *viewer) ask(t *testing.T, answer any, question ...string) {
	t.Helper()
	out, err := v.command(t, append(question, "--json", "--session", session)...).Output()
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		t.Fatalf("ask %v: %v\n%s", question, err, out)
	}
}

// node is a function in the viewer's tree of calls, with times in milliseconds.
type node struct {
	Name     string
	Total    float64 `json:"totalSamples"`
	Self     float64 `json:"selfSamples"`
	Children []node
}

// times are those of a path of functions, the outermost first: of all that it leads to, and
// of itself alone.
type times struct{ total, self float64 }

func (n *node) add(tree map[string]times, path string) {
	for _, c := range n.Children {
		at := path + ";" + c.Name
		tree[at] = times{tree[at].total + c.Total, tree[at].self + c.Self}
		c.add(tree, at)
	}
}

// treeOf returns the tree of calls that a thread's samples make.
func treeOf(p *profile.Profile, t *profile.Thread) map[string]times {
	tree := map[string]times{}
	for _, s := range p.Samples {
		if s.Thread != t || s.Kind == profile.Disk || s.Kind == profile.Fault {
			continue // those are markers
		}
		path, took := "", milliseconds(s.Took)
		for _, l := range slices.Backward(s.Stack.Locations) {
			frames := l.Frames
			if len(frames) == 0 {
				frames = []symbol.Frame{{}}
			}
			for _, f := range slices.Backward(frames) {
				path += ";" + nameOf(l, f)
				tree[path] = times{tree[path].total + took, tree[path].self}
			}
		}
		if path != "" {
			tree[path] = times{tree[path].total, tree[path].self + took}
		}
	}
	return tree
}

// compare asks the viewer for each thread and its tree of calls, and reports what differs
// from those of the profile.
func (v *viewer) compare(t *testing.T, p *profile.Profile) {
	t.Helper()
	var list struct {
		Threads []struct {
			Handle string `json:"threadHandle"`
			TID    uint32
		}
	}
	v.ask(t, &list, "thread", "list")
	if len(list.Threads) != len(p.Threads) {
		t.Fatalf("the viewer has %d threads, want %d", len(list.Threads), len(p.Threads))
	}
	functions := 0
	handles := map[uint32]string{}
	for _, l := range list.Threads {
		handles[l.TID] = l.Handle
	}
	for _, thread := range p.Threads {
		var answer struct {
			Tree node `json:"regularCallTree"`
		}
		v.ask(t, &answer, "thread", "samples-top-down", "--thread", handles[thread.TID], "--include-idle", "--max-lines", "1000000")
		got, want := map[string]times{}, treeOf(p, thread)
		answer.Tree.add(got, "")
		functions += len(want)
		for _, path := range slices.Sorted(maps.Keys(want)) {
			if g, w := got[path], want[path]; !near(g.total, w.total) || !near(g.self, w.self) {
				t.Errorf("thread %d: %s: %+v, want %+v", thread.TID, path, g, w)
			}
		}
		for path := range got {
			if _, ok := want[path]; !ok {
				t.Errorf("thread %d: the viewer has %s", thread.TID, path)
			}
		}
	}
	if functions == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d threads, %d places in their trees", len(p.Threads), functions)
}

// near allows for the order in which milliseconds are added up.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(a, b, 1) }

// The viewer reads what is written, and its tree of calls is that of the profile.
func TestViewer(t *testing.T) {
	p := small()
	view(t, p).compare(t, p)
}

// It also does with what was recorded: many threads, several processes, each kind of event.
func TestViewerOfARecordedProfile(t *testing.T) {
	testenv.Long(t, "runs the viewer")
	testenv.Root(t)
	p, _, err := profile.Options{
		Command: []string{"sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; (sleep 0.05); dd if=/dev/zero of=/dev/null bs=1M count=500 2>/dev/null"}, Frequency: 1000,
		Kinds: []profile.Kind{profile.CPU, profile.OffCPU, profile.Disk, profile.Fault},
	}.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	view(t, p).compare(t, p)
}

// go tool pprof reads the other format, and has the same times.
func TestGoToolPprof(t *testing.T) {
	testenv.Long(t, "compiles pprof")
	testenv.Tools(t, "go")
	file := filepath.Join(t.TempDir(), "small.pb.gz")
	var out bytes.Buffer
	p := small()
	if err := p.WritePprof(&out); err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, file, out.Bytes())
	for kind := range p.Sources {
		text, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-unit=ms", "-nodefraction=0", "-sample_index="+kind.String(), file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got := map[string]string{}
		_, table, _ := strings.Cut(string(text), "cum%\n")
		for line := range strings.Lines(table) {
			if columns := strings.Fields(line); len(columns) > 5 && columns[0] != "0" {
				got[columns[5]] = columns[0]
			}
		}
		want := map[string]string{}
		for _, f := range p.Functions(kind) {
			if f.Self > 0 {
				want[strings.TrimSuffix(f.Name, "_[k]")] = fmt.Sprintf("%gms", milliseconds(f.Self))
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v\n%s", kind, got, want, text)
		}
	}
}
