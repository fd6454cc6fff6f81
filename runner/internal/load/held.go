package load

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Most is the number of programs that the tool holds at once. Linux 6.18 can
// stop loading for good when it frees about a thousand within one grace period,
// and the kernel frees all at once when the tool is killed.
const Most = 200

// mostDying is the number of programs that are closed before Settle waits for
// the kernel to free them.
const mostDying = Most / 2

// settleTime is the longest that Settle waits. It usually takes a grace period
// of some 20 ms.
const settleTime = 5 * time.Second

// membarrierGlobal is MEMBARRIER_CMD_GLOBAL of linux/membarrier.h.
const membarrierGlobal = 1

// account is what this process has loaded.
type account struct {
	mu   sync.Mutex
	held int // loaded now
	// dying is how many were closed since the kernel last caught up.
	dying int
	// areas is how many memory areas of programs the kernel had before the first
	// load, or when it last caught up. Those of other processes are among them.
	areas int
	begun bool
}

var programs account

// take enters n programs that are about to be loaded.
func (a *account) take(n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.begun {
		a.begun, a.areas = true, programAreas()
	}
	if a.held+n > Most {
		return bench.WithHint(fmt.Errorf("%s would be loaded at once, and the tool holds at most %d: Linux can stop loading for good when it frees very many", unit.Plural(a.held+n, "program"), Most),
			"measure each build by itself with ebpf-bench run, or a program that reaches fewer others")
	}
	a.held += n
	return nil
}

// drop enters n programs that were closed.
func (a *account) drop(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held -= n
	a.dying += n
}

// Close unloads a collection of Collection, with the replacements that were
// added to it.
func Close(coll *ebpf.Collection) {
	n := len(coll.Programs)
	coll.Close()
	programs.drop(n)
}

// Settle waits until the kernel has freed the programs that were closed, once
// there are many. Call it where few are held.
func Settle(ctx context.Context) { programs.settle(ctx, mostDying) }

// settle waits, if dying programs or more were closed, for a grace period, which
// comes before the kernel frees a program, and then until the memory of programs
// is back to about what it was. If other processes load programs meanwhile, it
// takes settleTime.
func (a *account) settle(ctx context.Context, dying int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dying < dying {
		return
	}
	began := time.Now()
	// Without it, before Linux 4.3, what follows waits as well.
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0)
	areas := programAreas()
	for areas > a.areas+dying/2 && ctx.Err() == nil && time.Since(began) < settleTime {
		time.Sleep(2 * time.Millisecond)
		areas = programAreas()
	}
	a.dying, a.areas = 0, areas
}

// programAreas counts the memory areas of programs in the kernel: one for each
// program, and for each function of those that have several. Unlike their IDs,
// they last until the program has been freed. It is 0 for those who may not know.
func programAreas() int {
	all, err := os.ReadFile("/proc/vmallocinfo")
	if err != nil {
		return 0
	}
	return bytes.Count(all, []byte("bpf_prog_alloc"))
}
