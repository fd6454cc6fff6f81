package vm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// collect gathers the results of a command as they come.
func collect(cmd *Cmd) *[]string {
	results := new([]string)
	cmd.OnResult = func(r json.RawMessage) { *results = append(*results, string(r)) }
	return results
}

// run runs a command that must succeed.
func run(t testing.TB, cmd *Cmd) {
	t.Helper()
	var console bytes.Buffer
	cmd.Console = &console
	if err := cmd.Run(t.Context()); err != nil {
		t.Fatalf("%+v\n%s", err, console.String())
	}
}

func TestACommandRunsOnEveryKernel(t *testing.T) {
	for _, release := range kernels {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			cmd := newCmd(t, release, "hello", "there")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			results := collect(cmd)
			booted := ""
			cmd.OnBoot = func() { booted = fmt.Sprint(cmd.Info.Release, len(*results)) }
			run(t, cmd)

			if booted != cmd.Info.Release+"0" {
				t.Errorf("once it had booted, it was %q", booted)
			}
			if stdout.String() != "hello there\n" || stderr.String() != "not an error\n" {
				t.Errorf("it wrote %q and %q", stdout.String(), stderr.String())
			}
			if want := []string{"1", `"two"`, `{"three":3}`}; !slices.Equal(*results, want) {
				t.Errorf("it reported %q, want %q", *results, want)
			}
			info := cmd.Info
			if !strings.HasPrefix(info.Release, release+".") || info.Build == "" || info.QEMU == "" || info.CPU == "" {
				t.Errorf("incomplete: %+v", info)
			}
			if info.Boot <= 0 || info.Elapsed < info.Boot {
				t.Errorf("booting took %s of %s", info.Boot, info.Elapsed)
			}
			if len(info.Warnings) > 0 {
				t.Errorf("warnings: %q", info.Warnings)
			}
			t.Logf("boot %s, in all %s", info.Boot, info.Elapsed)
		})
	}
}

func TestTheCommandFindsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.12", "look")
	cmd.Dir, cmd.Env = "/suite", []string{"KEY=value"}
	cmd.Files = map[string][]byte{"/suite/file": []byte("contents")}
	results := collect(cmd)
	run(t, cmd)

	var got found
	if err := json.Unmarshal([]byte((*results)[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Dir != "/suite" || got.File != "contents" || !slices.Contains(got.Env, "KEY=value") {
		t.Errorf("it found %+v", got)
	}
	if !strings.Contains(got.Modules, "veth ") {
		t.Errorf("the modules are %q", got.Modules)
	}
	if len(got.Mounted) != len(guest.Mounts) {
		t.Errorf("only %q are mounted", got.Mounted)
	}
}

func TestAModuleThatDoesNotLoadIsAWarning(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.1", "hello")
	cmd.Modules = append([]Module{{"broken", []byte("no module")}}, cmd.Modules...)
	run(t, cmd)
	if w := cmd.Info.Warnings; len(w) != 1 || !strings.HasPrefix(w[0], "load module broken: ") {
		t.Errorf("warnings: %q", w)
	}
}

func TestALargeResultArrivesWhole(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.1", "blob")
	results := collect(cmd)
	run(t, cmd)
	if want := `"` + strings.Repeat("x", 1<<20) + `"`; len(*results) != 1 || (*results)[0] != want {
		t.Errorf("got %d results", len(*results))
	}
	t.Logf("it took %s", cmd.Info.Elapsed-cmd.Info.Boot)
}

func TestWhatTheCommandLeavesBehindDoesNotHoldItUp(t *testing.T) {
	t.Parallel()
	run(t, newCmd(t, "6.1", "orphan"))
}

func TestACommandThatFailsIsAnExitError(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]ExitError{
		"fail":  {Code: 3},
		"crash": {Code: -1, Signal: "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := newCmd(t, "6.1", name).Run(t.Context())
			var got *ExitError
			if !errors.As(err, &got) || *got != want {
				t.Errorf("got %v, want %v", err, &want)
			}
		})
	}
}
