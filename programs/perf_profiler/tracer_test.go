//go:build linux

package perfprofiler

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// trace samples a shell script, and what it starts, until enough says so.
func trace(t *testing.T, o TraceOptions, script string, enough func(Sample) bool) (*Tracer, []Sample) {
	t.Helper()
	testenv.Root(t)
	tracer, err := NewTracer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tracer.Close(); err != nil {
			t.Error(err)
		}
	})
	cmd := exec.Command("sh", "-c", "read go; "+script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it leaves running ends with it
	begin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait() // always an error: it was killed
	})
	if err := tracer.Add(uint32(cmd.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if err := tracer.Attach(); err != nil {
		t.Fatal(err)
	}
	if _, err := begin.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var samples []Sample
	stopped := false
	err = tracer.Run(ctx, func(s Sample) {
		samples = append(samples, s)
		if !stopped && enough(s) {
			stopped = true
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !stopped {
		t.Fatalf("%d samples in %s were not enough", len(samples), timeout)
	}
	return tracer, samples
}

// after returns a function that says yes to the nth sample that fits.
func after(n int, fits func(Sample) bool) func(Sample) bool {
	return func(s Sample) bool {
		if fits(s) {
			n--
		}
		return n <= 0
	}
}

func TestTracesRunningThreads(t *testing.T) {
	tracer, samples := trace(t, TraceOptions{Kinds: []Kind{CPU}, Interval: time.Millisecond}, "while :; do :; done",
		after(50, func(s Sample) bool { return len(s.User) > 0 }))
	pid := samples[0].PID
	for _, s := range samples {
		if s.Kind != CPU || s.PID != pid || s.Comm != "sh" || s.Time == 0 || len(s.Kernel)+len(s.User) == 0 {
			t.Errorf("got %+v", s)
		}
	}
	if lost, err := tracer.Lost(); err != nil || lost[CPU] != 0 {
		t.Errorf("lost %v, error %v", lost, err)
	}
}

// A sleep as long as the interval has a sample with its time, and a child is followed.
func TestTracesSleepsOfChildren(t *testing.T) {
	const slept = 60 * time.Millisecond
	_, samples := trace(t, TraceOptions{Kinds: []Kind{OffCPU}, Interval: 10 * time.Millisecond}, "while :; do sleep 0.06; done",
		after(5, func(s Sample) bool { return s.Comm == "sleep" && !s.Preempted && time.Duration(s.NS) >= slept }))
	pids := map[uint32]bool{}
	for _, s := range samples {
		if s.Comm == "sleep" && !s.Preempted && time.Duration(s.NS) >= slept {
			pids[s.PID] = true
			if len(s.Kernel) == 0 || len(s.User) == 0 {
				t.Errorf("got %+v", s)
			}
		}
	}
	if len(pids) < 5 {
		t.Errorf("samples of %d children, want each in one of its own", len(pids))
	}
}

// Short sleeps are sampled so that their time adds up.
func TestTracesShortSleeps(t *testing.T) {
	begin := time.Now()
	_, samples := trace(t, TraceOptions{Kinds: []Kind{OffCPU}, Interval: 40 * time.Millisecond}, "while :; do sleep 0.004; done",
		after(10, func(s Sample) bool { return !s.Preempted }))
	var sum time.Duration
	for _, s := range samples {
		sum += time.Duration(s.NS)
	}
	// The shell waits for each sleep, so two threads sleep at a time.
	if all := 2 * time.Since(begin); sum > all {
		t.Errorf("%s of sleep in %s", sum, all)
	}
	if sum < 200*time.Millisecond {
		t.Errorf("%s of sleep in %d samples", sum, len(samples))
	}
}

// What has not ended when the tracer stops is a sleep, too. The short one is there because
// a loop can keep a new process from the only CPU for long.
func TestTracesASleepThatDoesNotEnd(t *testing.T) {
	_, samples := trace(t, TraceOptions{Kinds: []Kind{CPU, OffCPU}, Interval: time.Millisecond}, "sleep 0.1; sleep 60 & sleep 0.1; while :; do :; done",
		after(300, func(s Sample) bool { return s.Kind == CPU }))
	last := samples[len(samples)-1]
	if !slices.ContainsFunc(samples, func(s Sample) bool {
		return s.Kind == OffCPU && !s.Preempted && s.Time == last.Time && time.Duration(s.NS) > 50*time.Millisecond
	}) {
		t.Errorf("no sleep ends with the tracer, at %d", last.Time)
	}
}

func TestTracesPageFaults(t *testing.T) {
	tracer, samples := trace(t, TraceOptions{Kinds: []Kind{Fault}, Interval: time.Millisecond}, "while :; do dd if=/dev/zero of=/dev/null bs=64k count=1 2>/dev/null; done",
		after(100, func(s Sample) bool { return s.Comm == "dd" }))
	source := tracer.Sources()[Fault]
	t.Logf("from %s", source)
	for _, s := range samples {
		if len(s.User) == 0 && len(s.Kernel) == 0 || source != "page-faults" && s.Address == 0 || source == "handle_mm_fault" && s.NS == 0 {
			t.Errorf("got %+v", s)
		}
	}
}

func TestTracesDiskRequests(t *testing.T) {
	dir := t.TempDir()
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	if unix.Major(stat.Dev) == 0 {
		t.Skipf("%s is not on a disk", dir)
	}
	file := filepath.Join(dir, "file")
	script := "while :; do dd if=/dev/zero of=" + file + " bs=64k count=16 oflag=direct conv=notrunc; dd if=" + file + " of=/dev/null bs=64k iflag=direct; done 2>/dev/null"
	reads, writes := 0, 0
	_, samples := trace(t, TraceOptions{Kinds: []Kind{Disk}, Interval: time.Millisecond}, script, func(s Sample) bool {
		if s.Write {
			writes++
		} else {
			reads++
		}
		return reads > 20 && writes > 20
	})
	for _, s := range samples {
		if s.NS == 0 || s.Device == 0 || len(s.Kernel) == 0 {
			t.Errorf("got %+v", s)
		}
	}
}

// Of a full buffer each sample is counted.
func TestTracesCountWhatIsLost(t *testing.T) {
	testenv.Root(t)
	busyProcess(t)
	counting, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Fatal(err)
	}
	defer counting.Close()
	tracer, err := newTracer(TraceOptions{Kinds: []Kind{CPU}, All: true, Interval: time.Millisecond}, uint32(os.Getpagesize()))
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	if err := tracer.Attach(); err != nil {
		t.Fatal(err)
	}
	lost := func() uint64 {
		lost, err := tracer.Lost()
		if err != nil {
			t.Fatal(err)
		}
		return lost[CPU]
	}
	// Nobody reads, so the buffer stays full.
	for deadline := time.Now().Add(timeout); lost() < 20; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out waiting for lost samples")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read := uint64(0)
	if err := tracer.Run(ctx, func(Sample) { read++ }); err != nil {
		t.Fatal(err)
	}
	runs, err := tracer.loaded[len(tracer.loaded)-1].(collection).Programs[eventsProgOnCpu].Stats()
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 || read+lost() != runs.RunCount {
		t.Errorf("read %d and lost %d of %d samples", read, lost(), runs.RunCount)
	}
}

func TestDecodeRefusesWhatIsNoSample(t *testing.T) {
	header := binary.Size(sampleHeader{})
	for name, raw := range map[string][]byte{"empty": nil, "short": make([]byte, header-1), "long": make([]byte, 64<<10)} {
		for _, copies := range []bool{false, true} {
			if _, err := decodeSample(raw, copies); err == nil {
				t.Errorf("%s, copies %t: no error", name, copies)
			}
		}
	}
	raw := make([]byte, header)
	if _, err := decodeSample(raw, true); err == nil {
		t.Error("no length of a copy: no error")
	}
	raw[44-4] = 16 // kernel_len, and no stack
	if _, err := decodeSample(raw, false); err == nil {
		t.Error("a stack that is not there: no error")
	}
	for _, copied := range []byte{8, 137} {
		raw = make([]byte, header+addrSize+136)
		raw[header] = copied
		if _, err := decodeSample(raw, true); err == nil {
			t.Errorf("a copy of %d bytes in 136: no error", copied)
		}
	}
}

// A copy has the registers of user space and the stack, whatever
// the thread was doing: the addresses of the callers are in it.
func TestTracesCopyStacks(t *testing.T) {
	testenv.Root(t)
	switch tracer, err := NewTracer(TraceOptions{Copies: true}); {
	case err == nil:
		if err := tracer.Close(); err != nil {
			t.Fatal(err)
		}
	case errors.Is(err, ErrNoCopies):
		var u unix.Utsname
		if err := unix.Uname(&u); err != nil {
			t.Fatal(err)
		}
		if release := unix.ByteSliceToString(u.Release[:]); !strings.HasPrefix(release, "5.10.") {
			t.Errorf("Linux %s: %v", release, err)
		}
		t.Skip("this kernel is older than Linux 5.15")
	default:
		t.Fatal(err)
	}
	for kind, script := range map[Kind]string{
		CPU: "while :; do :; done", OffCPU: "while :; do sleep 0.01; done",
		Fault: "while :; do dd if=/dev/zero of=/dev/null bs=64k count=1 2>/dev/null; done",
	} {
		_, samples := trace(t, TraceOptions{Kinds: []Kind{kind}, Interval: time.Millisecond, Copies: true}, script,
			after(20, func(s Sample) bool { return s.Copy != nil }))
		copies, empty := 0, 0
		for _, s := range samples {
			if len(s.User) > 0 && s.Copy == nil {
				t.Errorf("kind %d: no copy of %+v", kind, s)
			}
			if kind == OffCPU && len(s.Kernel) == 0 {
				t.Errorf("no stack of the kernel: %+v", s)
			}
			if len(s.User) == 0 || s.Copy == nil {
				continue
			}
			copies++
			r, memory := s.Copy.Registers, s.Copy.Memory
			if len(memory) == 0 {
				empty++ // the process is about to execute another file
			}
			if r[16] != s.User[0] {
				t.Errorf("kind %d: registers %#x, the stack is %#x", kind, r, s.User)
			}
			// Where there is a frame pointer, the address to return to is above it.
			if at := r[6] + addrSize - r[7] + RedZone; len(s.User) > 1 && at < uint64(len(memory)) && at+addrSize <= uint64(len(memory)) && binary.NativeEndian.Uint64(memory[at:]) != s.User[1] {
				t.Errorf("kind %d: %#x is not in the copy", kind, s.User[1])
			}
		}
		if 2*empty >= copies {
			t.Errorf("kind %d: of %d copies %d are empty", kind, copies, empty)
		}
	}
}
