package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/vm"
)

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	if err := Interrupted(ctx, errors.New("failed")); err.Error() != "failed" {
		t.Errorf("without a signal: %v", err)
	}
	stop(errors.New("interrupt signal received"))
	if err := Interrupted(ctx, context.Cause(ctx)); err.Error() != "interrupted" || !errors.Is(err, context.Cause(ctx)) {
		t.Errorf("got %v", err)
	}
	if err := Interrupted(ctx, nil); err != nil {
		t.Errorf("what succeeded all the same: %v", err)
	}
}

func TestCanEmulate(t *testing.T) {
	if err := CanEmulate("amd64"); err != nil {
		t.Error(err)
	}
	err := CanEmulate("arm64")
	if err == nil || err.Error() != "virtual machines are x86-64, and this is arm64" || !strings.Contains(bench.Hint(err), "mode: host") {
		t.Errorf("%v, hint %q", err, bench.Hint(err))
	}
}

// watching records the warnings of a fleet.
type watching []string

func (w *watching) Tell(notes ...bench.Note) {
	for _, n := range notes {
		*w = append(*w, n.Text)
	}
}
func (w *watching) Stage(string) Stage        { return nil }
func (w *watching) Downloads() fetch.Progress { return nil }

// A warning about what a machine could not set up names its kernel.
func TestWarningsOfAMachine(t *testing.T) {
	var output watching
	f := &Fleet{watch: &output}
	f.warn("6.12", vm.Info{Warnings: []string{"load module veth: exec format error", "mount /sys/fs/bpf: no such device"}})
	want := []string{"kernel 6.12: load module veth: exec format error", "kernel 6.12: mount /sys/fs/bpf: no such device"}
	if !slices.Equal(output, want) {
		t.Errorf("said %q", output)
	}
}

// A tool that is killed in a machine loses its benchmark as a failing machine does; one
// that exits by itself has printed why.
func TestAToolThatIsKilledInTheGuest(t *testing.T) {
	for _, c := range []struct {
		exit   *vm.ExitError
		output string
		lost   string
		hint   bool
	}{
		{&vm.ExitError{Code: -1, Signal: "killed"}, "", "ebpf-bench in the guest was ended: signal: killed", true},
		{&vm.ExitError{Code: 2}, "error: it has no such flag\n", "", false},
	} {
		err := explainGuest(c.exit, c.output, true)
		r := &bench.Result{Benchmark: "b"}
		lost := Lose(r, err)
		if r.Error != c.lost || strings.HasSuffix(lost.Error(), ", while it measured b") != (c.lost != "") || (bench.Hint(lost) != "") != c.hint {
			t.Errorf("%v: lost %q, hint %q, result %+v", c.exit, lost, bench.Hint(lost), r)
		}
		if d := bench.Details(err); (len(d) > 0) != (c.output != "") {
			t.Errorf("%v: it said %q, details %v", c.exit, c.output, d)
		}
	}
}
