package runner

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// growth is by how many bytes a program may make a packet longer before it takes
// the kernel's word for it that it did.
const growth = 256

// warnings say that the program leaves its packets other than they were, where
// that matters: the kernel runs the repeats of a call on what the run before
// left. They take a run of each packet, so nothing is measured after it.
func (d *testRun) warnings() []string {
	if !d.typ.dataOut {
		return nil
	}
	edited, most := 0, 0
	err := withoutSignals(func() error {
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

// edits tells whether a run changes its packet.
func (d *testRun) edits(in *input) (bool, error) {
	o := in.options(1)
	o.DataOut = make([]byte, len(in.data)+growth)
	_, err := d.program.Run(o)
	if errors.Is(err, unix.ENOSPC) {
		return true, nil
	}
	from := 0
	if d.typ.noHeader {
		from = ethernetHeader
	}
	same := err == nil && len(o.DataOut) == len(in.data) && bytes.Equal(o.DataOut[from:], in.data[from:])
	return err == nil && !same, err
}
