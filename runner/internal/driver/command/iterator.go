package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// iterator reads an iterator from its start to its end.
type iterator struct {
	iter  *link.Iter
	m     *ebpf.Map
	count int
}

func openIterator(h *hook.Hook, p *ebpf.Program, j *plan.Job) (driver.Driver, error) {
	i := &iterator{count: j.Command.Count}
	err := i.choose(h, p)
	if err == nil {
		i.iter, err = link.AttachIter(link.IterOptions{Program: p, Map: i.m})
	}
	if err != nil {
		_ = i.Close()
		return nil, fmt.Errorf("attach to %s: %w", h.Section, err)
	}
	return i, nil
}

func (i *iterator) Drive(ctx context.Context) (driver.Driven, error) {
	for range i.count {
		if err := ctx.Err(); err != nil {
			return driver.Driven{}, err
		}
		if err := i.read(); err != nil {
			return driver.Driven{}, fmt.Errorf("read the iterator: %w", err)
		}
	}
	return driver.Driven{}, nil
}

func (i *iterator) read() error {
	r, err := i.iter.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

func (i *iterator) Close() error {
	var errs []error
	if i.iter != nil {
		errs = append(errs, i.iter.Close())
	}
	if i.m != nil {
		errs = append(errs, i.m.Close())
	}
	return errors.Join(errs...)
}

// choose finds the map for an iterator over a map: the program's map that is
// named after a colon, as in iter/bpf_map_elem:NAME, or else a map of its own.
func (i *iterator) choose(h *hook.Hook, p *ebpf.Program) error {
	over, name, named := strings.Cut(h.Target, ":")
	if named {
		m, err := bpfmap.Named(p, name)
		if err != nil || m != nil {
			i.m = m
			return err
		}
	}
	switch over {
	case "bpf_map_elem":
		var err error
		i.m, err = newElements()
		return err
	case "bpf_sk_storage_map", "sockmap":
		return fmt.Errorf("it goes through a map of the program's: say which by attach: %s:MAP", h.Section)
	}
	return nil
}

// elements is the number of elements in the map that an iterator gets if it has
// no other. The kernel refuses programs that read beyond its key or value size.
const (
	elements    = 64
	elementSize = 64
)

func newElements() (*ebpf.Map, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{
		Type: ebpf.Hash, KeySize: elementSize, ValueSize: elementSize, MaxEntries: elements, Flags: unix.BPF_F_ZERO_SEED,
	})
	if err != nil {
		return nil, fmt.Errorf("make a map to go through: %w", err)
	}
	for n := range elements {
		element := make([]byte, elementSize)
		element[0] = byte(n)
		if err := m.Put(element, element); err != nil {
			return nil, errors.Join(fmt.Errorf("fill a map to go through: %w", err), m.Close())
		}
	}
	return m, nil
}
