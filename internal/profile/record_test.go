//go:build linux

package profile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// build compiles a Go program.
func build(t *testing.T, folder string) string {
	t.Helper()
	testenv.Root(t)
	testenv.Tools(t, "go")
	binary := filepath.Join(t.TempDir(), filepath.Base(folder))
	if out, err := exec.Command("go", "build", "-o", binary, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func record(t *testing.T, o Options) *Profile {
	t.Helper()
	o.Stderr = os.Stderr
	if o.Frequency == 0 {
		o.Frequency = 100
	}
	p, notes, err := o.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		t.Logf("%s", n.Text)
	}
	return p
}

// The agent that sleeps for each sample: time off the CPU names the line first, and time on
// it does not have it at all.
func TestTheLineThatSleepsIsNamed(t *testing.T) {
	agent := build(t, "../../programs/perf_profiler/agent")
	source, err := os.ReadFile("../../programs/perf_profiler/agent/main.go")
	if err != nil {
		t.Fatal(err)
	}
	line := slices.IndexFunc(strings.Split(string(source), "\n"), func(s string) bool { return strings.Contains(s, "unix.Nanosleep(") }) + 1
	busy := exec.Command("sh", "-c", "while :; do :; done") // it samples CPUs that are not idle
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	p := record(t, Options{Command: []string{agent, "-duration", "1s", "-frequency", "500", "-sleep", "4ms"}, Kinds: []Kind{CPU, OffCPU}})
	waits := p.Waits()
	if len(waits) == 0 || waits[0].Name != "main.pause" || waits[0].Line != line || filepath.Base(waits[0].File) != "main.go" {
		t.Errorf("the first of %d waits is not line %d: %+v", len(waits), line, waits[:min(3, len(waits))])
	}
	for _, f := range p.Functions(CPU) {
		if f.Name == "main.pause" && f.Self > p.Duration/20 {
			t.Errorf("time on the CPU: %+v", f)
		}
	}
}

// Sleeps are as long as the program itself says: those of an interval and more each, and
// shorter ones as a sum, whose parts are drawn.
func TestSleepsAreAsLongAsTheyWere(t *testing.T) {
	sleeper := build(t, "./testdata/sleeper")
	var out bytes.Buffer
	p := record(t, Options{Command: []string{sleeper}, Stdout: &out, Kinds: []Kind{OffCPU}})
	want := map[string]time.Duration{}
	for text := range strings.Lines(out.String()) {
		var name string
		var seconds float64
		if _, err := fmt.Sscan(text, &name, &seconds); err != nil {
			t.Fatal(err)
		}
		want[name] = time.Duration(seconds * 1e9)
	}
	got := map[string]time.Duration{}
	for _, s := range p.Samples {
		for _, f := range s.Stack.frames {
			if name, ok := strings.CutPrefix(f.Func, "main."); ok && want[name] > 0 {
				got[name] += s.Took
				break
			}
		}
	}
	t.Logf("recorded %v, measured %v", got, want)
	near := func(what string, got, want time.Duration, share float64) {
		if d := (got - want).Abs(); float64(d) > share*float64(want) {
			t.Errorf("%s: %s recorded, %s measured", what, got, want)
		}
	}
	// On a busy machine the program is preempted between a sleep and its own clock.
	near("long", got["long"], want["long"], 0.1)
	short, measured := got["short"]+got["shorter"], want["short"]+want["shorter"]
	near("short", short, measured, 0.25)
	if got["short"] < got["shorter"] {
		t.Errorf("sleeps of 3 ms are %s, and as many of 1 ms %s", got["short"], got["shorter"])
	}
}

// A binary that was deleted while it ran has its names.
func TestADeletedBinaryHasNames(t *testing.T) {
	sleeper := build(t, "./testdata/sleeper")
	p := record(t, Options{Command: []string{"sh", "-c", sleeper + " & sleep 0.1; rm " + sleeper + "; wait"}, Kinds: []Kind{OffCPU}})
	for _, s := range p.Samples {
		for _, f := range s.Stack.frames {
			if f.Func == "main.long" {
				return
			}
		}
	}
	t.Errorf("none of %d samples is in main.long", len(p.Samples))
}
