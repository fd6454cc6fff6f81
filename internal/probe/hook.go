package probe

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// errNeverRun is the answer for a hook that accepts a program but never runs
// it: for measuring, it is as good as none.
var errNeverRun = lacking("attached, but never run")

// fires loads the program of spec, attaches it, and triggers its hook until
// the kernel has counted a run.
func fires(spec ebpf.ProgramSpec, attach func(*ebpf.Program) (io.Closer, error), trigger func() error) error {
	prog, err := load(spec)
	if err != nil {
		return err
	}
	defer prog.Close()

	l, err := attach(prog)
	if err != nil {
		return err
	}
	defer l.Close()

	// Only now: a hook that does not even attach is lacking on every kernel,
	// and a hook that attaches may still fire where runs are not counted.
	stats, err := countRuns()
	if err != nil {
		return inconclusive(fmt.Errorf("count runs: %w", err))
	}
	defer stats.Close()

	// Packets arrive a little later, and a run is skipped if it interrupts
	// another program.
	const tries, pause = 20, time.Millisecond
	for range tries {
		if err := trigger(); err != nil {
			return fmt.Errorf("trigger: %w", err)
		}
		if err := counted(prog); !errors.Is(err, errNotCounted) {
			return err
		}
		time.Sleep(pause)
	}
	return errNeverRun
}

// nothing is a Closer for what needs no closing.
type nothing struct{}

func (nothing) Close() error { return nil }

// renameThread sets the name of the calling thread to its present name.
func renameThread() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var name [16]byte // TASK_COMM_LEN
	if err := prctlName(unix.PR_GET_NAME, &name); err != nil {
		return err
	}
	return prctlName(unix.PR_SET_NAME, &name)
}

func prctlName(option int, name *[16]byte) error {
	if err := unix.Prctl(option, uintptr(unsafe.Pointer(name)), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	return nil
}

// askOwnGroup asks the kernel for the process group of a process given by
// number, because only such a question reaches security modules.
func askOwnGroup() error {
	_, err := unix.Getpgid(unix.Getpid())
	return err
}
