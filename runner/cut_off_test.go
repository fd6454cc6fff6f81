package runner

import (
	"context"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// cutOff is a driver that is cut off after some whole slices.
type cutOff struct {
	driver.Driver
	whole  int
	cancel context.CancelFunc
}

func (c *cutOff) Drive(ctx context.Context) (driver.Driven, error) {
	if c.whole--; c.whole < 0 {
		c.cancel()
		return driver.Driven{}, ctx.Err()
	}
	return c.Driver.Drive(ctx)
}

func (c *cutOff) Trigger(ctx context.Context) (int, error) {
	_, err := c.Drive(ctx)
	return 1, err
}

func (c *cutOff) Detach() error { return nil }

// A slice that a signal cuts off is in no figure, and not a fault of the
// benchmark.
func TestWhatIsCutOffIsNotCounted(t *testing.T) {
	testenv.Root(t)
	j := resolved(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: returns(0)}, bench.Benchmark{TestRun: &bench.TestRun{}})
	onThread(t, func(env *driver.Environment) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		tr := newTrack(j, newFloor(floorOf(j), j))
		tr.open(ctx, env)
		defer tr.close()
		if tr.err != nil {
			t.Error(tr.err)
			return
		}
		const first, rounds = 1, 2
		tr.subject.Driver = &cutOff{tr.subject.Driver, first + rounds, cancel}
		m := &measurement{options: Options{Rounds: 8, Progress: silent{}}}
		counted, err := m.countRuns(ctx, &tr.driven)
		if err != nil {
			t.Error(err)
		}
		tr.keep(0, counted, bench.Counters{})
		tr.countPath(ctx)
		if n := tr.result.Retvals[0]; n != rounds || tr.err != nil || len(tr.warnings) > 0 || tr.result.Path != nil {
			t.Errorf("%d rounds were counted, want %d; error %v, path %v, warnings %q", n, rounds, tr.err, tr.result.Path, tr.warnings)
		}
	})
}
