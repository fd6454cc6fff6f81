package probe

import (
	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Verdicts of an XDP program that the probes use.
const (
	xdpDrop = 1
	xdpPass = 2
)

func haveTestRunXDP() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpPass)})
	if err != nil {
		return err
	}
	defer prog.Close()
	return testRun(prog, ebpf.RunOptions{})
}

func haveTestRunSKB() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.SchedCLS})
	if err != nil {
		return err
	}
	defer prog.Close()
	return testRun(prog, ebpf.RunOptions{})
}

// haveLiveFrames runs a program that drops its frame, so that none gets into
// the network stack.
func haveLiveFrames() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: returns(xdpDrop)})
	if err != nil {
		return err
	}
	defer prog.Close()

	err = testRun(prog, ebpf.RunOptions{
		Repeat: 1,
		Flags:  unix.BPF_F_TEST_XDP_LIVE_FRAMES,
		// Linux 5.10 to 5.17 ignore the flag for XDP programs, but refuse a
		// batch size, which is as new.
		BatchSize: 1,
	})
	return lackingIf(err, unix.EINVAL)
}

// testRun runs prog on an empty packet of the smallest size on a wire.
func testRun(prog *ebpf.Program, opts ebpf.RunOptions) error {
	opts.Data = make([]byte, 64)
	_, err := prog.Run(&opts)
	return err
}
