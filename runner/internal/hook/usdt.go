package hook

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/workload/usdt"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// usdtSpecs is the map in which a program that uses libbpf's usdt.bpf.h finds
// the places of a probe's arguments, by the cookie of its attachment.
const usdtSpecs = "__bpf_usdt_specs"

// attachUSDT attaches to each place of a static probe.
func attachUSDT(h *Hook, p *ebpf.Program) (io.Closer, error) {
	if !host.HaveCookies() {
		return nil, errors.New("static probes take Linux 5.15, for programs to find their arguments")
	}
	file, t, err := h.open()
	if err != nil {
		return nil, err
	}
	places, err := usdt.Find(t.path, t.code)
	if err != nil {
		return nil, err
	}
	var all links
	for number, place := range places {
		err := tellOfUSDT(p, uint32(number), place)
		if err == nil {
			var l link.Link
			l, err = file.Uprobe(t.code, p, usdtOptions(uint64(number), place))
			if err == nil {
				all = append(all, l)
				continue
			}
		}
		_ = all.Close()
		return nil, err
	}
	return all, nil
}

func usdtOptions(number uint64, u usdt.Place) *link.UprobeOptions {
	// A cookie of 0, as the first place has, means none: any kernel takes it.
	return &link.UprobeOptions{Address: u.Offset, RefCtrOffset: u.Semaphore, Cookie: number}
}

// tellOfUSDT writes the places of a probe's arguments into the program's maps.
// A program without these maps does not need them.
func tellOfUSDT(p *ebpf.Program, number uint32, u usdt.Place) error {
	specs, err := bpfmap.Named(p, usdtSpecs)
	if err != nil || specs == nil {
		return err
	}
	defer specs.Close()
	if specs.ValueSize() != usdt.SpecSize {
		return fmt.Errorf("map %s has values of %d bytes: those that are known have %d", usdtSpecs, specs.ValueSize(), usdt.SpecSize)
	}
	if err := specs.Put(number, u.Spec()); err != nil {
		return fmt.Errorf("fill map %s: %w", usdtSpecs, err)
	}
	return nil
}

// links are closed together.
type links []link.Link

func (all links) Close() error {
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
