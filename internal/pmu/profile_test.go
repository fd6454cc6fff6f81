package pmu

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
)

// load loads a program of the bundled object.
func load(t *testing.T, name string) *ebpf.Program {
	t.Helper()
	data, err := programs.FS.ReadFile("fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	spec.Programs = map[string]*ebpf.ProgramSpec{name: spec.Programs[name]}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coll.Close)
	return coll.DetachProgram(name)
}

func TestProfileSeesEveryRun(t *testing.T) {
	testenv.Probe(t, "fentry")
	stats, err := ebpf.EnableStats(0)
	if err == nil {
		defer stats.Close()
	}
	program := load(t, "fun_xdp_basic")
	defer program.Close()
	p, err := Attach(software, program, "fun_xdp_basic")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if m := p.Measures(); len(m) != 2 || m[0].Name != "task-clock" || m[1].Name != "switches" {
		t.Fatalf("counts %v, want all but the event that does not exist", m)
	}
	const repeat = 1000
	if _, err := program.Run(&ebpf.RunOptions{Data: make([]byte, 64), Repeat: repeat}); err != nil {
		t.Fatal(err)
	}
	runs, sums, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := program.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if runs != kernel.RunCount || runs < repeat {
		t.Errorf("%d runs were profiled of %d, of %d that were asked for", runs, kernel.RunCount, repeat)
	}
	if n, ok := sums[0].Since(Reading{}); !ok || n <= 0 || n >= float64(kernel.Runtime) {
		t.Errorf("%v ns of CPU time, counted %v: want less than the %v that the kernel charges", n, ok, kernel.Runtime)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := program.Run(&ebpf.RunOptions{Data: make([]byte, 64)}); err != nil {
		t.Errorf("a program that was profiled: %v", err)
	}
}

func TestProfileOfWhatCannotBeTraced(t *testing.T) {
	testenv.Probe(t, "fentry")
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if _, err := Attach(software, program, ""); err == nil || !strings.Contains(err.Error(), "no BTF") {
		t.Errorf("got %v of a program without BTF", err)
	}
}

// If nothing is counted, nothing is attached.
func TestProfileOfNothing(t *testing.T) {
	testenv.Root(t)
	p, err := Attach(software[1:2], load(t, "fun_xdp_basic"), "fun_xdp_basic")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Measures()) != 0 || p.coll != nil {
		t.Errorf("profiles %v", p.Measures())
	}
	if runs, sums, err := p.Read(); runs != 0 || len(sums) != 0 || err != nil {
		t.Errorf("read %d, %v, %v", runs, sums, err)
	}
}
