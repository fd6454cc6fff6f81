package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/report"
)

func TestInsnTable(t *testing.T) {
	r := &insnReport{
		Testbed: bench.Testbed{Kernel: "6.12.1"},
		Unread:  map[string]string{"b.o": "it is truncated"},
		Programs: []insnProgram{
			{Object: "a.o", Program: "good", Insns: 100, VerifiedInsns: 100, Minimal: insnLoad{VerifiedInsns: 110, NS: 20_000}, EveryBlock: insnLoad{VerifiedInsns: 130, NS: 40_000}, Runs: 9, OracleRuns: 3},
			{Object: "a.o", Program: "refused", Refused: &insnFailure{Class: "the kernel lacks a feature", Why: "unknown func"}},
			{Object: "a.o", Program: "grown", Insns: 100, Minimal: insnLoad{NS: 20_000}, EveryBlock: insnLoad{Refused: &insnFailure{Class: "no room on the stack", Why: "combined stack size"}}},
			{Object: "a.o", Program: "wrong", Insns: 100, VerifiedInsns: 100, Minimal: insnLoad{VerifiedInsns: 110}, EveryBlock: insnLoad{VerifiedInsns: 110}, Runs: 3, Mismatch: "repeat 2, input 1: \x1b[31m"},
			{Object: "a.o", Program: "odd", Runs: 3, Divergent: []string{"FnKtimeGetNs"}},
		},
	}
	r.sum()
	var b bytes.Buffer
	if err := printInsn(&b, []*insnReport{r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"6.12.1  5         4         3 75.00%  3    15    1      3       0      1          1.10 1.20  0.13\n",
		"  a.o grown: not counted, every block (no room on the stack): combined stack size\n",
		"  a.o wrong: wrong: repeat 2, input 1: ",
		"  a.o odd: divergent: FnKtimeGetNs\n",
		"  b.o: unreadable: it is truncated\n",
		"  not loadable as it is: the kernel lacks a feature: 1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("what a program says moves the cursor")
	}
	table, _, _ := strings.Cut(b.String(), "\n\n")
	if width := report.Width(table); width > 110 {
		t.Errorf("the table is %d columns wide", width)
	}
	if r.Total.wrong() != 1 {
		t.Errorf("%d programs wrong, want 1", r.Total.wrong())
	}
}

func TestInsnFailureClasses(t *testing.T) {
	verifier := func(cause error, lines ...string) error {
		return fmt.Errorf("program p: %w", &ebpf.VerifierError{Cause: cause, Log: lines})
	}
	for _, c := range []struct {
		err        error
		class, why string
	}{
		{fmt.Errorf("instrument: %w", insn.ErrStack), "no room on the stack", "instrument: " + insn.ErrStack.Error()},
		{fmt.Errorf("instrument: %w", insn.ErrJumpRange), "a jump too far", "instrument: " + insn.ErrJumpRange.Error()},
		{verifier(unix.EACCES, "combined stack size of 2 calls is 528. Too large", "verification time 3 usec", "stack depth 8", "insns processed 9", "processed 9 insns", ""), "no room on the stack", "combined stack size of 2 calls is 528. Too large"},
		{verifier(unix.E2BIG, "BPF program is too large. Processed 1000001 insn"), "too much for the verifier", "BPF program is too large. Processed 1000001 insn"},
		{verifier(unix.EINVAL, "unknown func bpf_loop#181"), "the kernel lacks a feature", "unknown func bpf_loop#181"},
		{verifier(unix.EACCES, "R1 !read_ok"), "refused by the verifier", "R1 !read_ok"},
		{verifier(unix.EACCES), "refused by the verifier", "permission denied"},
		{fmt.Errorf("load: %w", unix.EBUSY), "refused by the kernel: device or resource busy", "load: device or resource busy"},
		{errors.New("load: something"), "other", "load: something"},
	} {
		if f := failureOf(c.err); f.Class != c.class || f.Why != c.why {
			t.Errorf("%v: %+v, want %q, %q", c.err, *f, c.class, c.why)
		}
	}
}

// The frames are of many kinds, and long enough for the kernel.
func TestInsnInputs(t *testing.T) {
	inputs := inputsOf(ebpf.XDP)
	if len(inputs) < 10 {
		t.Errorf("%d inputs", len(inputs))
	}
	for i, in := range inputs {
		if len(in.data) < 34 || len(in.data) > 1500 {
			t.Errorf("input %d has %d bytes", i, len(in.data))
		}
	}
	if len(inputsOf(ebpf.Kprobe)) != 0 {
		t.Error("BPF_PROG_TEST_RUN runs no kprobe")
	}
}
