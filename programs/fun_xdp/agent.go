//go:build linux

package funxdp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

// pollInterval is how often the queue is drained. The kernel cannot wake the
// reader of a queue; at this rate its 1,024 entries last for 100,000 events a
// second, and an idle agent makes no load worth mentioning.
const pollInterval = 10 * time.Millisecond

// Agent attaches a program to an interface and reads what it reports.
type Agent struct {
	log  *slog.Logger
	coll *ebpf.Collection
	link link.Link

	mu     sync.Mutex
	counts Counts
}

// Counts is what an Agent has seen so far.
type Counts struct {
	Events map[Event]uint64
	// Dropped is the number of events that did not fit into the queue.
	Dropped uint64
}

// New loads the programs. The caller closes the Agent.
func New(log *slog.Logger) (*Agent, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, err
	}
	spec, err := loadBpf()
	if err != nil {
		return nil, err
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load programs: %w", err)
	}
	return &Agent{
		log:    log,
		coll:   coll,
		counts: Counts{Events: make(map[Event]uint64)},
	}, nil
}

// Attach attaches the program of that name to an interface, given by its name
// or index. Call it before Run, and only once.
func (a *Agent) Attach(program, iface string) error {
	if a.link != nil {
		return errors.New("attach: a program is attached already")
	}
	prog, ok := a.coll.Programs[program]
	if !ok {
		return fmt.Errorf("attach: no program is named %q", program)
	}
	index, err := interfaceIndex(iface)
	if err != nil {
		return fmt.Errorf("attach %s: %w", program, err)
	}
	a.link, err = link.AttachXDP(link.XDPOptions{Program: prog, Interface: index})
	if err != nil {
		return fmt.Errorf("attach %s to %s: %w", program, iface, err)
	}
	return nil
}

// Run drains the queue until ctx is done. It then detaches the program and
// drains what is left, so that nothing reported is lost.
func (a *Agent) Run(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return errors.Join(a.detach(), a.Drain(context.WithoutCancel(ctx)))
		case <-tick.C:
		}
		if err := a.Drain(ctx); err != nil {
			return errors.Join(err, a.detach())
		}
	}
}

// Drain reads the queue until it is empty, or until ctx is done: a program may
// push faster than anyone can read.
func (a *Agent) Drain(ctx context.Context) error {
	drained := make(map[Event]uint64)
	for ctx.Err() == nil {
		var event Event
		err := a.coll.Maps[bpfMapEvents].LookupAndDelete(nil, &event)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return fmt.Errorf("drain events: %w", err)
		}
		drained[event]++
	}
	dropped, err := a.dropped()
	if err != nil {
		return err
	}
	a.add(drained, dropped)
	return nil
}

// Counts returns what was drained so far.
func (a *Agent) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Counts{maps.Clone(a.counts.Events), a.counts.Dropped}
}

// Sources returns how many packets fun_xdp_basic has seen from each address. It
// may fail while addresses are added at a high rate.
func (a *Agent) Sources() (map[netip.Addr]uint64, error) {
	var (
		sources = make(map[netip.Addr]uint64)
		saddr   [4]byte
		packets uint64
	)
	entries := a.coll.Maps[bpfMapSources].Iterate()
	for entries.Next(&saddr, &packets) {
		sources[netip.AddrFrom4(saddr)] = packets
	}
	if err := entries.Err(); err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return sources, nil
}

// Close detaches the program and unloads all of them.
func (a *Agent) Close() error {
	defer a.coll.Close()
	return a.detach()
}

func (a *Agent) detach() error {
	if a.link == nil {
		return nil
	}
	// Closing alone would leave the program attached for as long as another
	// process holds the link.
	err := errors.Join(a.link.Detach(), a.link.Close())
	a.link = nil
	return err
}

func (a *Agent) dropped() (uint64, error) {
	var perCPU []uint64
	if err := a.coll.Maps[bpfMapDropped].Lookup(uint32(0), &perCPU); err != nil {
		return 0, fmt.Errorf("read dropped: %w", err)
	}
	var sum uint64
	for _, n := range perCPU {
		sum += n
	}
	return sum, nil
}

// add adds drained events to the counts and logs what is new.
func (a *Agent) add(drained map[Event]uint64, dropped uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, event := range slices.Sorted(maps.Keys(drained)) {
		a.counts.Events[event] += drained[event]
		a.log.Info("drained", "event", event.String(), "count", drained[event])
	}
	if lost := dropped - a.counts.Dropped; lost > 0 {
		a.counts.Dropped = dropped
		a.log.Warn("queue was full", "dropped", lost)
	}
}

func interfaceIndex(iface string) (int, error) {
	found, err := net.InterfaceByName(iface)
	if err == nil {
		return found.Index, nil
	}
	if index, notNumber := strconv.Atoi(iface); notNumber == nil {
		return index, nil
	}
	return 0, fmt.Errorf("find interface %s: %w", iface, err)
}
