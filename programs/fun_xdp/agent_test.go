//go:build linux

package funxdp

import (
	"context"
	"log/slog"
	"maps"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

func newTestAgent(tb testing.TB) *Agent {
	tb.Helper()
	testenv.Root(tb)

	agent, err := New(slog.New(slog.NewTextHandler(tb.Output(), nil)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := agent.Close(); err != nil {
			tb.Error(err)
		}
	})
	return agent
}

// start runs the agent until the returned function is called, which waits for
// the agent to shut down.
func start(tb testing.TB, agent *Agent) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- agent.Run(ctx) }()

	return func() {
		tb.Helper()
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	}
}

func TestAgentCountsEveryEvent(t *testing.T) {
	agent := newTestAgent(t)
	stop := start(t, agent)

	// Do not sleep before stopping the agent: its last drain reads what earlier
	// ones have not.
	const rounds = 20
	for range rounds {
		for source := uint32(1); source <= 15; source++ {
			run(t, agent.coll.Programs[bpfProgFunXdpFibonacci], frame(addr(source)))
		}
	}
	stop()

	want := map[Event]uint64{
		Fibonacci: 6 * rounds, // 1, 2, 3, 5, 8, 13
		Fizz:      3 * rounds, // 6, 9, 12
		Buzz:      1 * rounds, // 10
		FizzBuzz:  1 * rounds, // 15
	}
	if got := agent.Counts(); !maps.Equal(got.Events, want) || got.Dropped != 0 {
		t.Errorf("got %v and %d dropped, want %v and none", got.Events, got.Dropped, want)
	}
}

func TestAgentDrainsAfterItsContextIsDone(t *testing.T) {
	agent := newTestAgent(t)
	run(t, agent.coll.Programs[bpfProgFunXdpFizz], frame(addr(3)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := agent.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := agent.Counts().Events[Fizz]; got != 1 {
		t.Errorf("got %d events, want 1", got)
	}
}

func TestFullQueueCountsEveryDrop(t *testing.T) {
	agent := newTestAgent(t)
	capacity := uint64(agent.coll.Maps[bpfMapEvents].MaxEntries())

	overflow := uint64(0)
	for _, more := range []uint64{7, 0, 5} {
		overflow += more
		for range capacity + more {
			run(t, agent.coll.Programs[bpfProgFunXdpFizz], frame(addr(3)))
		}
		if err := agent.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := agent.Counts().Dropped; got != overflow {
			t.Errorf("got %d dropped, want %d", got, overflow)
		}
	}
	if got := agent.Counts().Events[Fizz]; got != 3*capacity {
		t.Errorf("got %d events, want %d", got, 3*capacity)
	}
}

func TestAttachErrors(t *testing.T) {
	agent := newTestAgent(t)

	for _, tc := range []struct{ name, program, iface string }{
		{"no such program", "fun_xdp_none", "lo"},
		{"no such name", bpfProgFunXdpBasic, "no-such-iface"},
		{"no such index", bpfProgFunXdpBasic, "2147483647"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := agent.Attach(tc.program, tc.iface)
			if err == nil {
				t.Fatal("want an error")
			}
			t.Log(err)
		})
	}
}
