//go:build linux

// Package sideband reads what the kernel says of processes beside the samples of a
// profiler: which files they map, what they are called, when they fork and end. That names
// the addresses of processes that have long ended when somebody asks.
package sideband

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads the events of all processes, from the CPUs that are online when it is
// opened. It takes CAP_PERFMON, or before Linux 5.8, CAP_SYS_ADMIN.
type Reader struct {
	rings []*ring
	lost  uint64
	until atomic.Uint64
}

// ring is the buffer that the kernel writes on one CPU.
type ring struct {
	fd   int
	page *unix.PerfEventMmapPage
	all  []byte // the page and the data, as mapped
	data []byte
}

// dataPages is the size of a buffer in pages, a power of two: 2 MiB hold the mappings of
// some hundred processes that start at once.
const dataPages = 512

// Open starts reading.
func Open() (*Reader, error) { return open(dataPages) }

// open starts reading with buffers of so many pages.
func open(pages int) (*Reader, error) {
	r := new(Reader)
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		one, err := openRing(cpu, pages)
		if errors.Is(err, unix.ENODEV) {
			continue // it has just gone offline
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open perf event for mappings on CPU %d: %w", cpu, err), r.Close())
		}
		r.rings = append(r.rings, one)
	}
	return r, nil
}

func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return parseCPUs(string(text))
}

func openRing(cpu, pages int) (*ring, error) {
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Config:      unix.PERF_COUNT_SW_DUMMY,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME,
		Clockid:     unix.CLOCK_MONOTONIC,
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Wakeup: uint32(pages) / 4 << 10,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	size := os.Getpagesize()
	all, err := unix.Mmap(fd, 0, (1+pages)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("mmap", err)
	}
	return &ring{fd: fd, all: all, data: all[size:], page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&all[0]))}, nil
}

// Read passes on the events that have come since the last time, in the order of time.
// Those of different CPUs may still come later with an earlier time.
func (r *Reader) Read(handle func(Event)) error {
	var begun unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &begun) // every kernel has this clock
	var events []Event
	for _, one := range r.rings {
		for raw := range one.records {
			e, err := decode(raw)
			if err != nil {
				return err
			}
			if e.Kind == lost {
				r.lost += e.lost
			}
			if e.Kind.public() {
				events = append(events, e)
			}
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	for _, e := range events {
		handle(e)
	}
	r.until.Store(uint64(begun.Nano()))
	return nil
}

// Until returns the time, of CLOCK_MONOTONIC in nanoseconds, up to which Read has passed
// all events on. It may be called while Run runs.
func (r *Reader) Until() uint64 { return r.until.Load() }

// Lost returns how many events left no record, for nobody read them in time.
func (r *Reader) Lost() uint64 { return r.lost }

// Run reads until ctx is done, and then what is left.
func (r *Reader) Run(ctx context.Context, handle func(Event)) error {
	fds := make([]unix.PollFd, len(r.rings))
	for i, one := range r.rings {
		fds[i] = unix.PollFd{Fd: int32(one.fd), Events: unix.POLLIN}
	}
	// A watermark wakes the reader early under load; this is how old an event gets without.
	const patience = 20 // ms
	for ctx.Err() == nil {
		if err := r.Read(handle); err != nil {
			return err
		}
		if _, err := unix.Poll(fds, patience); err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("poll", err)
		}
	}
	return r.Read(handle)
}

// Close ends reading.
func (r *Reader) Close() (err error) {
	for _, one := range r.rings {
		err = errors.Join(err, unix.Munmap(one.all), unix.Close(one.fd))
	}
	r.rings = nil
	return err
}

// records yields the records that the kernel has written and nobody has read.
// A record is valid until the next one.
func (r *ring) records(yield func([]byte) bool) {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail
	defer func() { atomic.StoreUint64(&r.page.Data_tail, tail) }()
	size := uint64(len(r.data))
	var wrapped []byte
	for tail < head {
		// A record starts at a multiple of 8, so its header is in one piece.
		at := tail % size
		n := uint64(headerOf(r.data[at:]).size)
		if n < headerSize || n > head-tail {
			tail = head // the kernel never writes that
			return
		}
		raw := r.data[at:min(at+n, size)]
		if at+n > size {
			wrapped = append(append(wrapped[:0], raw...), r.data[:at+n-size]...)
			raw = wrapped
		}
		tail += n
		if !yield(raw) {
			return
		}
	}
}
