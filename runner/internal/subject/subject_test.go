package subject

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/all"
	"github.com/org/ebpf-bench-action/runner/internal/driver/drivertest"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// A slice takes as long as its driver: what empties the maps before is not part of it.
func TestASliceTakesAsLongAsItsDriver(t *testing.T) {
	testenv.Root(t)
	job := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{Verify: &bench.Verify{}})
	drivertest.OnThread(t, func(env *driver.Environment) {
		s, err := Open(t.Context(), env, job)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Emptiers, s.Driver = []bpfmap.Emptier{slow(time.Hour)}, slow(time.Minute)
		synctest.Test(t, func(t *testing.T) {
			if got, err := s.Slice(t.Context()); err != nil || got.Wall != time.Minute {
				t.Errorf("%s, %v", got.Wall, err)
			}
		})
	})
}

// slow is an emptier and a driver that take a while.
type slow time.Duration

func (s slow) Empty(context.Context) error { time.Sleep(time.Duration(s)); return nil }

func (s slow) Drive(ctx context.Context) (driver.Driven, error) { return driver.Driven{}, s.Empty(ctx) }

func (s slow) Full() (bool, error) { return false, nil }

func (s slow) Close() error { return nil }

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}
