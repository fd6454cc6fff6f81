package vethpair

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// errNotHeld says that the XDP dispatcher could not be made to hold a program.
// Each test_run of it with a repeat then takes milliseconds of set-up.
var errNotHeld = errors.New("not held in the XDP dispatcher")

// maxHeld is the number of programs that the XDP dispatcher holds. The kernel
// silently leaves out further ones and calls them indirectly.
const maxHeld = 48

// Parking holds XDP programs in the kernel's XDP dispatcher, through which the
// kernel calls them directly. The dispatcher is patched whenever a program
// comes or goes, which takes milliseconds. A test_run with a repeat adds its
// program and removes it again, unless something holds it there.
//
// A Parking holds a program by attaching it to an end of a veth pair that is
// never brought up. The zero value is ready for use.
type Parking struct {
	ns     *network.Netns
	places []*place
	// free are the places whose program has been released. It stays there until
	// another one takes its place: that costs one patch, while detaching one
	// and attaching the other would cost two.
	free []*place
}

// place is an interface of a Parking.
type place struct {
	index    int
	attached attachment
}

// Hold holds an XDP program until the Closer is closed. A caller may ignore an
// error: the program works all the same.
func (p *Parking) Hold(prog *ebpf.Program) (io.Closer, error) {
	err := p.grow()
	if err == nil {
		err = p.park(p.free[len(p.free)-1], prog)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotHeld, err)
	}

	taken := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return &held{p, taken}, nil
}

func (p *Parking) park(at *place, prog *ebpf.Program) (err error) {
	if at.attached != nil {
		return at.attached.Update(prog)
	}
	at.attached, err = attachXDP(p.ns, at.index, bench.XDPNative, prog)
	return err
}

// grow makes places if none is free.
func (p *Parking) grow() (err error) {
	switch {
	case len(p.free) > 0:
		return nil
	case len(p.places) == maxHeld:
		return fmt.Errorf("it holds %d programs already", maxHeld)
	case p.ns == nil:
		if p.ns, err = network.NewNetns(); err != nil {
			return err
		}
	}
	pair, err := newPlaces(p.ns, len(p.places))
	if err != nil {
		return fmt.Errorf("make veth pair: %w", err)
	}
	p.places = append(p.places, pair...)
	p.free = append(p.free, pair...)
	return nil
}

// newPlaces makes a veth pair whose ends are both places.
func newPlaces(ns *network.Netns, number int) ([]*place, error) {
	h, err := ns.Netlink()
	if err != nil {
		return nil, err
	}
	defer h.Close()

	names := []string{fmt.Sprint("parked", number), fmt.Sprint("parked", number+1)}
	if err := addVeth(h, names[0], names[1], nil); err != nil {
		return nil, err
	}
	var pair []*place
	for _, name := range names {
		iface, err := h.LinkByName(name)
		if err != nil {
			return nil, err
		}
		pair = append(pair, &place{index: iface.Attrs().Index})
	}
	return pair, nil
}

// Close releases all programs for good.
func (p *Parking) Close() error {
	var errs []error
	for _, at := range p.places {
		if at.attached != nil {
			errs = append(errs, at.attached.Close())
		}
	}
	if p.ns != nil {
		errs = append(errs, p.ns.Close())
	}
	return errors.Join(errs...)
}

// held is a program that is held until Close.
type held struct {
	parking *Parking
	at      *place
}

func (h *held) Close() error {
	if h.at != nil {
		h.parking.free = append(h.parking.free, h.at)
		h.at = nil
	}
	return nil
}
