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

// guestReports reads a guest's reports, which come one benchmark after the other, each a
// whole R.
type guestReports[R any] struct {
	decode func(io.Reader) (*R, error)
	// add adds a report to earlier ones, which are nil at first.
	add func(all, latest *R) *R
	// done returns how many benchmarks were reported.
	done func(*R) int
}

// of runs a guest that reports on the benchmarks with these names. It returns what the
// guest reported together with the error that ended it early; the reports are nil if there
// were none. After each report, tell gets everything so far.
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

// benchmarkOf names the current benchmark after some of all are done.
func benchmarkOf(done int, all []string) string {
	if done >= len(all) {
		return "ending"
	}
	return fmt.Sprintf("benchmark %d of %d, %s", done+1, len(all), all[done])
}
