package insntest_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/insntest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// maxSize keeps the verifier's work on a program far below a second.
const maxSize = 64

// The kernel, with and without counters, does what the oracle does, and as
// often.
func FuzzKernelAgainstOracle(f *testing.F) {
	testenv.Root(f)
	level := levelOf(f)
	for seed := range uint64(8) {
		f.Add(seed, uint8(10*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		if outcome := compare(t, seed, int(size)%maxSize, level); outcome.refused != "" {
			t.Skip(outcome.refused)
		}
	})
}

// Most generated programs load, so that the fuzz test tests something.
func TestKernelAgainstOracle(t *testing.T) {
	testenv.Root(t)
	level := levelOf(t)
	const programs = 300
	refused, outgrown, runs := 0, 0, 0
	for seed := range uint64(programs) {
		o := compare(t, seed, 40, level)
		runs += o.runs
		if o.refused != "" {
			refused++
			t.Logf("seed %d: %s", seed, o.refused)
		}
		if o.outgrown != "" {
			outgrown++
			t.Logf("seed %d: %s", seed, o.outgrown)
		}
	}
	t.Logf("%d programs, %d refused, %d outgrown, %d runs", programs, refused, outgrown, runs)
	if refused > programs/10 || outgrown > programs/50 {
		t.Errorf("of %d programs %d were refused, and with counters %d more", programs, refused, outgrown)
	}
}

// levelOf returns what the kernel supports. Of the newest level, a program with
// all of it must load.
func levelOf(t testing.TB) level {
	t.Helper()
	switch err := features.HaveProgramHelper(ebpf.XDP, asm.FnLoop); {
	case errors.Is(err, ebpf.ErrNotSupported):
		return oldest
	case err != nil:
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		coll, err := ebpf.NewCollection(generate(seed, 60, linux69))
		if err != nil && strings.Contains(lastLine(err), "unknown opcode") {
			return linux517
		}
		if err == nil {
			coll.Close()
		}
	}
	return linux69
}

// outcome is what happened to a program: why it was refused, or refused only
// with counters, or how often it ran.
type outcome struct {
	refused, outgrown string
	runs              int
}

// compare generates a program and compares the kernel with the oracle.
func compare(t *testing.T, seed uint64, size int, level level) (o outcome) {
	t.Helper()
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	defer settle()
	defer pin(t)()
	spec := generate(seed, size, level)
	plain, err := ebpf.NewCollectionWithOptions(spec.Copy(), ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}})
	if err != nil {
		return outcome{refused: lastLine(err)}
	}
	defer plain.Close()
	depths := map[string][]int{}
	for name, p := range plain.Programs {
		depths[name] = insn.StackDepths(p.VerifierLog)
	}
	m, err := insntest.New(spec)
	if err != nil {
		t.Fatal(err)
	}

	type counted struct {
		coll  *ebpf.Collection
		table *insn.Table
	}
	var all []counted
	for _, placement := range []insn.Placement{insn.Minimal, insn.EveryBlock} {
		spec := spec.Copy()
		table, err := insn.Instrument(spec, insn.Options{Placement: placement, StackDepths: depths})
		if errors.Is(err, insn.ErrStack) {
			return outcome{outgrown: err.Error()}
		}
		if err != nil {
			t.Fatalf("seed %d, size %d: %v", seed, size, err)
		}
		coll, err := ebpf.NewCollection(spec)
		if why := ""; err != nil {
			if why = lastLine(err); strings.Contains(why, "stack") || strings.Contains(why, "too large") || strings.Contains(why, "too complex") {
				return outcome{outgrown: why}
			}
			t.Fatalf("seed %d, size %d: refused with counters: %s", seed, size, why)
		}
		defer coll.Close()
		all = append(all, counted{coll, table})
	}

	for i, packet := range packets(seed, 4) {
		want, err := m.Run("main", insntest.Input{Data: packet})
		if err != nil {
			t.Fatalf("seed %d, size %d: %v", seed, size, err)
		}
		for _, coll := range []*ebpf.Collection{plain, all[0].coll, all[1].coll} {
			retval, data, err := coll.Programs["main"].Test(packet)
			if err != nil {
				t.Fatalf("seed %d, size %d: %v", seed, size, err)
			}
			if retval != want.Retval || !bytes.Equal(data, want.Data) && !bytes.Equal(data, append(want.Meta, want.Data...)) {
				t.Fatalf("seed %d, size %d, packet %d, counters %v: retval %#x and %d bytes, want %#x and %d", seed, size, i, coll != plain, retval, len(data), want.Retval, len(want.Data))
			}
		}
		for _, c := range all {
			counts, err := c.table.Read(c.coll)
			if err != nil {
				t.Fatal(err)
			}
			for name := range spec.Programs {
				got, want := counts.Instructions(name), m.Executed(name)
				if at := differ(got, want); at >= 0 {
					t.Fatalf("seed %d, size %d, packet %d: instruction %d of %s was executed %v times, want %v", seed, size, i, at, name, got[at], want[at])
				}
			}
		}
		o.runs++
	}
	return o
}

// differ returns the first index at which two counts differ, or -1.
func differ(a, b []uint64) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// lastLine returns the last line of the verifier's log.
func lastLine(err error) string {
	var v *ebpf.VerifierError
	if !errors.As(err, &v) {
		return err.Error()
	}
	for _, line := range slices.Backward(v.Log) {
		if line != "" && !statistic.MatchString(line) {
			return line
		}
	}
	return err.Error()
}

var statistic = regexp.MustCompile(`^(processed \d|insns processed \d|verification time \d|stack depth \d)`)

func packets(seed uint64, n int) (list [][]byte) {
	r := rand.New(rand.NewPCG(seed, 11))
	for range n {
		p := make([]byte, 14+r.IntN(100))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		// The kernel refuses what looks like IP and is too short for it.
		p[12] |= 0x10
		list = append(list, p)
	}
	return list
}

// settled counts down to the next time that settle waits.
var settled int

// settle lets the kernel free programs now and then. It does so in deferred
// work on the CPU that closed them, and Linux 6.18 still hangs for good when a
// thousand of them wait there.
func settle() {
	if settled--; settled > 0 {
		return
	}
	settled = 16
	const membarrierGlobal = 1
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0)
	time.Sleep(10 * time.Millisecond)
}

// pin keeps the caller on one CPU until done is called, since the oracle has
// only the values of one. Each process takes another.
func pin(t testing.TB) (done func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	skip := os.Getpid() % before.Count()
	for cpu := 0; ; cpu++ {
		if !before.IsSet(cpu) {
			continue
		}
		if skip == 0 {
			one.Set(cpu)
			break
		}
		skip--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before)
		runtime.UnlockOSThread()
	}
}
