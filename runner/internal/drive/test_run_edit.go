package drive

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// growth is how many bytes a program may add to a packet before only the
// kernel's error shows that it did.
const growth = 256

// Warnings warns of a program that changes its packets, where that matters: the
// kernel runs the repeats of a call on the packet that the run before left. It
// runs each packet once, so nothing may be measured after it.
func (d *testRun) Warnings() []string {
	if !d.typ.DataOut {
		return nil
	}
	edited, most := 0, 0
	err := thread.WithoutSignals(func() error {
		for i := range d.inputs {
			most = max(most, d.runs[i])
			is, err := d.edits(&d.inputs[i])
			if err != nil {
				return err
			}
			if is {
				edited++
			}
		}
		return nil
	})
	if err != nil || edited == 0 || most < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the program changes %s, and the kernel runs the repeats of a call on what the run before left: all but the first run see a packet changed before; repeat: %d gives each run the packet as it was",
		ofPackets(edited, len(d.inputs)), len(d.inputs))}
}

func ofPackets(n, of int) string {
	if of == 1 {
		return "its packet"
	}
	return fmt.Sprintf("%d of its %d packets", n, of)
}

// edits reports whether a run changes its packet.
func (d *testRun) edits(in *plan.Input) (bool, error) {
	o := runOptions(in, 1)
	o.DataOut = make([]byte, len(in.Data)+growth)
	_, err := d.program.Run(o)
	if errors.Is(err, unix.ENOSPC) {
		return true, nil
	}
	from := 0
	if d.typ.NoHeader {
		from = plan.EthernetHeader
	}
	same := err == nil && len(o.DataOut) == len(in.Data) && bytes.Equal(o.DataOut[from:], in.Data[from:])
	return err == nil && !same, err
}
