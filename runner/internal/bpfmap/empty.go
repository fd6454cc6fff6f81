package bpfmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Emptier removes everything from a map that programs fill and user space
// drains. Otherwise a benchmark would soon measure only the path of a full map.
type Emptier interface {
	// Empty removes everything or, if the map is reset, what was added since.
	Empty(ctx context.Context) error
	// Full reports whether some of what was added since may not have fit.
	Full() (bool, error)
	io.Closer
}

func canEmpty(t ebpf.MapType) bool {
	return t == ebpf.RingBuf || t == ebpf.Queue || t == ebpf.Stack
}

// NewEmptiers makes an emptier for each map of the collection that is emptied,
// or reset to its present contents, before each slice.
func NewEmptiers(ctx context.Context, coll *ebpf.Collection, preps map[string]bench.MapPrep, entries map[string][]Entry) (all []Emptier, err error) {
	for name, m := range coll.Maps {
		reset := preps[name].Reset
		var e Emptier
		switch {
		case reset == bench.ResetSlice && canRestore(m.Type()):
			e, err = newRestorer(ctx, m)
		case !canEmpty(m.Type()) || reset == bench.ResetNever || len(entries[name]) > 0:
			continue
		case m.Type() == ebpf.RingBuf:
			e, err = newRingEmptier(m)
		default:
			e, err = newQueueEmptier(m)
		}
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("prepare to empty map %s: %w", name, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// ringEmptier is the consumer of a ring buffer: it moves the consumer's
// position to the producer's. Both are in pages that the kernel maps; see
// kernel/bpf/ringbuf.c.
type ringEmptier struct {
	consumer, producer []byte
	size               uint64
}

func newRingEmptier(m *ebpf.Map) (Emptier, error) {
	page := os.Getpagesize()
	consumer, err := unix.Mmap(m.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the consumer page: %w", err)
	}
	producer, err := unix.Mmap(m.FD(), int64(page), page, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(consumer)
		return nil, fmt.Errorf("map the producer page: %w", err)
	}
	return &ringEmptier{consumer, producer, uint64(m.MaxEntries())}, nil
}

func (r *ringEmptier) Empty(context.Context) error {
	atomic.StoreUint64(position(r.consumer), atomic.LoadUint64(position(r.producer)))
	return nil
}

// Pending returns the number of bytes that wait for a consumer.
func (r *ringEmptier) Pending() uint64 {
	return atomic.LoadUint64(position(r.producer)) - atomic.LoadUint64(position(r.consumer))
}

// Full allows for a record that did not fit: it takes more than half for full.
func (r *ringEmptier) Full() (bool, error) { return r.Pending() > r.size/2, nil }

// position returns the counter at the start of a ring buffer's page.
func position(page []byte) *uint64 { return (*uint64)(unsafe.Pointer(&page[0])) }

func (r *ringEmptier) Close() error {
	_ = unix.Munmap(r.producer)
	return unix.Munmap(r.consumer)
}

// queueEmptier empties a queue or stack with a program, because one system call
// per element would take longer than the slice that is measured.
type queueEmptier struct {
	queue   *ebpf.Map
	prog    *ebpf.Program
	repeat  uint32
	context []byte
}

// popsPerRun is the number of elements that one run of the program pops. The
// program has no loop, so that it loads on kernels before Linux 5.3, which have
// none.
const popsPerRun = 64

// maxStackValue bounds the values that fit on the stack of a program (512
// bytes) with room to spare.
const maxStackValue = 256

func newQueueEmptier(m *ebpf.Map) (Emptier, error) {
	if m.ValueSize() > maxStackValue {
		return nil, fmt.Errorf("its values have %d bytes, at most %d can be popped: set reset: never", m.ValueSize(), maxStackValue)
	}
	slot := -int32(m.ValueSize()+7) / 8 * 8
	insns := asm.Instructions{asm.LoadMapPtr(asm.R6, m.FD())}
	for range popsPerRun {
		insns = append(insns,
			asm.Mov.Reg(asm.R1, asm.R6),
			asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, slot),
			asm.FnMapPopElem.Call(),
			asm.JNE.Imm(asm.R0, 0, "done"),
		)
	}
	insns = append(insns, asm.Mov.Imm(asm.R0, 0).WithSymbol("done"), asm.Return())
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "bench_drain", Type: ebpf.SocketFilter, License: "GPL", Instructions: insns,
	})
	if err != nil {
		return nil, fmt.Errorf("load the program that empties it: %w", err)
	}
	return &queueEmptier{queue: m, prog: prog, repeat: m.MaxEntries()/popsPerRun + 1, context: make([]byte, 14)}, nil
}

func (q *queueEmptier) Empty(context.Context) error {
	_, err := q.prog.Run(&ebpf.RunOptions{Data: q.context, Repeat: q.repeat})
	return err
}

// Full counts the elements by removing them.
func (q *queueEmptier) Full() (bool, error) {
	value := make([]byte, q.queue.ValueSize())
	for n := uint32(0); ; n++ {
		err := q.queue.LookupAndDelete(nil, &value)
		switch {
		case errors.Is(err, ebpf.ErrKeyNotExist):
			return n == q.queue.MaxEntries(), nil
		case err != nil:
			return false, err
		}
	}
}

func (q *queueEmptier) Close() error { return q.prog.Close() }

func closeAll[C io.Closer](all []C) {
	for _, c := range all {
		_ = c.Close()
	}
}

// StartOver reports whether each slice finds some map as it was, so that a run
// depends on how many runs of its slice came before. Ring buffers do not count:
// their contents belong to their reader.
func StartOver(all []Emptier) bool {
	return slices.ContainsFunc(all, func(e Emptier) bool {
		_, ring := e.(*ringEmptier)
		return !ring
	})
}
