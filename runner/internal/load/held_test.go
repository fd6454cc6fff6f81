package load

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// ofPages returns n programs that take pages of memory each in the kernel.
func ofPages(n, pages int) *ebpf.CollectionSpec {
	var insns asm.Instructions
	for range pages*os.Getpagesize()/asm.InstructionSize - 100 { // beside its header
		insns = append(insns, asm.Mov.Imm(asm.R0, 0))
	}
	insns = append(insns, asm.Return())
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{}}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: ebpf.SocketFilter, License: "GPL", Instructions: insns}
	}
	return spec
}

func TestNeverHoldsMoreThanMost(t *testing.T) {
	var a account
	if err := a.take(Most - 1); err != nil {
		t.Fatal(err)
	}
	if err := a.take(2); err == nil || !strings.Contains(err.Error(), "201 programs would be loaded at once, and the tool holds at most 200") {
		t.Errorf("took 2 more: %v", err)
	}
	a.drop(1)
	if err := a.take(2); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	// Nothing of a collection that is refused is loaded, nor counted.
	before := programs.held
	if _, _, err := Collection(ofPages(Most+1, 1)); err == nil || !strings.Contains(err.Error(), "at once") {
		t.Errorf("loaded %d programs: %v", Most+1, err)
	}
	if programs.held != before {
		t.Errorf("holds %d, and %d before", programs.held, before)
	}
}

func TestSettleWaitsUntilProgramsAreFreed(t *testing.T) {
	testenv.Root(t)
	const n, pages = 20, 5
	areas := func() int {
		all, err := os.ReadFile("/proc/vmallocinfo")
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range bytes.Lines(all) {
			if bytes.Contains(line, []byte("bpf_prog_alloc")) && bytes.Contains(line, fmt.Appendf(nil, "pages=%d ", pages)) {
				found++
			}
		}
		return found
	}
	held := programs.held
	coll, _, err := Collection(ofPages(n, pages))
	if err != nil {
		t.Fatal(err)
	}
	if programs.held != held+n || areas() < n {
		t.Errorf("counts %d programs, the kernel has memory of %d, want %d", programs.held-held, areas(), n)
	}
	Close(coll)
	programs.settle(t.Context(), 1)
	if left := areas(); left > n/2 || programs.held != held || programs.dying != 0 {
		t.Errorf("the kernel still has memory of %d programs; counts %d held and %d dying", left, programs.held-held, programs.dying)
	}
}
