package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/runner"
)

// guestReports is how a guest's reports are read that come one benchmark after
// the other, each a whole R.
type guestReports[R any] struct {
	decode func(io.Reader) (*R, error)
	// add adds a report to those before, which are nil at first.
	add func(all, latest *R) *R
	// done is how many benchmarks were reported.
	done func(*R) int
}

// of has a guest report on the benchmarks of these names. What it reported
// comes with the error that ended it early; it is nil if that is nothing. What there is
// so far is told after each report.
func (g *guestReports[R]) of(ctx context.Context, m *fleet.Fleet, kernel string, benchmarks []string, machine fleet.Guest, tell func(R)) (*R, vm.Info, error) {
	var all *R
	var broken error
	machine.Result = func(text json.RawMessage) {
		latest, err := g.decode(bytes.NewReader(text))
		if err != nil {
			broken = fleet.OnKernel(kernel, fmt.Errorf("read the guest's results: %w", err))
			return
		}
		all = g.add(all, latest)
		tell(*all)
	}
	machine.At = func() string {
		done := 0
		if all != nil {
			done = g.done(all)
		}
		return benchmarkOf(done, benchmarks)
	}
	info, err := m.Run(ctx, kernel, machine)
	err = errors.Join(err, broken)
	if all == nil && err == nil {
		err = fleet.OnKernel(kernel, errors.New("the guest reported no results"))
	}
	return all, info, err
}

func pairNames(pairs []runner.PairJob) (names []string) {
	for _, p := range pairs {
		names = append(names, p.Name())
	}
	return names
}

// benchmarkOf names the benchmark that is under way after some of all.
func benchmarkOf(done int, all []string) string {
	if done >= len(all) {
		return "ending"
	}
	return fmt.Sprintf("benchmark %d of %d, %s", done+1, len(all), all[done])
}
