package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// collectionOf returns a collection of one program called p.
func collectionOf(p ebpf.ProgramSpec, instructions ...asm.Instruction) *ebpf.CollectionSpec {
	p.Name, p.Instructions = "p", instructions
	if p.License == "" {
		p.License = "GPL"
	}
	return &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": &p}, Maps: map[string]*ebpf.MapSpec{}}
}

// withMap returns an XDP program that refers to a map called m.
func withMap(m ebpf.MapSpec) *ebpf.CollectionSpec {
	spec := collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, asm.LoadMapPtr(asm.R1, 0).WithReference("m"), asm.Mov.Imm(asm.R0, 2), asm.Return())
	m.Name = "m"
	spec.Maps["m"] = &m
	return spec
}

func TestWhyAProgramDoesNotLoad(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	pass := []asm.Instruction{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	million := slices.Repeat([]asm.Instruction{asm.Mov.Imm(asm.R0, 2)}, 1_000_000)
	for _, c := range []struct {
		name              string
		spec              *ebpf.CollectionSpec
		class, says, hint string
	}{
		{"an uninitialised register", collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, asm.Mov.Reg(asm.R0, asm.R5), asm.Return()),
			classVerifier, "the verifier refuses program p: R5 !read_ok", "-v prints"},
		{"a license", collectionOf(ebpf.ProgramSpec{Type: ebpf.Kprobe, License: "MIT"}, asm.FnProbeReadKernel.Call(), asm.Return()),
			classLicense, "cannot call GPL-restricted function", `SEC("license")`},
		{"a million instructions", collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, append(million, asm.Return())...),
			classTooLarge, "1,000,001 instructions are more than the kernel takes", "1,000,000"},
		{"an unknown helper", collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, asm.BuiltinFunc(9999).Call(), asm.Return()),
			classFeature, "invalid func unknown#9999", "newer kernel"},
		{"an unknown function of the kernel", collectionOf(ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceFEntry, AttachTo: "no_such_function", SectionName: "fentry/no_such_function"}, pass...),
			classTarget, `no "no_such_function" in this kernel`, "fentry/no_such_function"},
		{"freplace without a program", collectionOf(ebpf.ProgramSpec{Type: ebpf.Extension, AttachTo: "f"}, pass...),
			classTarget, "", ""},
		{"a function of another object", collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, asm.Call.Label("elsewhere"), asm.Return()),
			classObject, "a function that the object does not define", "bpftool gen object"},
		{"an array of a tebibyte", withMap(ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 1 << 20, MaxEntries: 1 << 20}),
			classMemory, "map m takes 1024 GiB (array of 1,048,576 entries of 4+1,048,576 bytes)", "max_entries"},
		{"a hash of all numbers", withMap(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 1<<32 - 1}),
			classMemory, "map m takes", "max_entries"},
		{"an array with long keys", withMap(ebpf.MapSpec{Type: ebpf.Array, KeySize: 8, ValueSize: 8, MaxEntries: 1}),
			classMap, "map m (array of 1 entries of 8+8 bytes): invalid argument", "sizes and flags"},
		{"values of gibibytes", withMap(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 1 << 31, MaxEntries: 1}),
			classMemory, "map m", "max_entries"},
	} {
		_, _, err := Collection(c.spec.Copy())
		if err == nil {
			t.Errorf("%s: it loads", c.name)
			continue
		}
		err = Explain(c.spec, "p", err)
		if Class(err) != c.class || !strings.Contains(err.Error(), c.says) || !strings.Contains(bench.Hint(err), c.hint) {
			t.Errorf("%s: %v (hint: %s; class: %s), want %q (%q; %s)", c.name, err, bench.Hint(err), Class(err), c.says, c.hint, c.class)
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) || bench.Hint(err) == "" {
			t.Errorf("%s: %q, hint %q", c.name, err, bench.Hint(err))
		}
	}
}

// The whole log of a million instructions would need more memory than the
// machine may have.
func TestAProgramThatTakesTooLongToVerify(t *testing.T) {
	testenv.Root(t)
	// The loop is long because the verifier compares states at its end.
	body := slices.Repeat([]asm.Instruction{asm.Add.Imm(asm.R6, 1)}, 4000)
	body[0] = body[0].WithSymbol("loop")
	spec := collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP}, slices.Concat(
		[]asm.Instruction{asm.Mov.Imm(asm.R6, 0)}, body,
		[]asm.Instruction{asm.JLT.Imm(asm.R6, 10_000_000, "loop"), asm.Mov.Imm(asm.R0, 2), asm.Return()})...)
	_, _, err := Collection(spec.Copy())
	if err == nil {
		t.Fatal("it loads")
	}
	err = Explain(spec, "p", err)
	text, hint, log := Explained(err)
	if !strings.Contains(text, "BPF program is too large") || Class(err) != classTooLarge || hint == "" {
		t.Errorf("%s (hint: %s; class: %s)", text, hint, Class(err))
	}
	if !strings.Contains(log, "processed 1000001 insns") || strings.Count(log, "\n") > 10 {
		t.Errorf("the log has %d lines: %.200s", strings.Count(log, "\n"), log)
	}
}

// A program loads without those types of its object that the kernel refuses.
func TestTypesThatTheKernelRefuses(t *testing.T) {
	testenv.Root(t)
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	spec := collectionOf(ebpf.ProgramSpec{Type: ebpf.XDP},
		btf.WithFuncMetadata(asm.Mov.Imm(asm.R0, 2).WithSymbol("p"), &btf.Func{Name: "no name; at all", Linkage: btf.GlobalFunc, Type: &btf.FuncProto{Return: number}}),
		asm.Return())
	coll, warning, err := Collection(spec)
	if err != nil {
		t.Fatal(err)
	}
	Close(coll)
	if !strings.Contains(warning, "without types") {
		t.Errorf("warning %q", warning)
	}
}

func TestReadLog(t *testing.T) {
	for _, c := range []struct {
		name           string
		log            []string
		reason, source string
	}{
		{"Linux 5.10", []string{"; return x;", "0: (bf) r0 = r5", "R5 !read_ok", "processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0"}, "R5 !read_ok", "return x;"},
		{"Linux 6.12", []string{"; return x; @ a.c:7", "0: (bf) r0 = r5", "R5 !read_ok", "processed 1 insns (limit 1000000)"}, "R5 !read_ok", "a.c:7: return x;"},
		{"Linux 7.2 with statistics", []string{"BPF program is too large. Processed 1000001 insn", "verification time 5343548 usec", "stack depth 0 max 0", "insns processed 1000001", "processed 1000001 insns (limit 1000000) max_states_per_insn 4"}, "BPF program is too large. Processed 1000001 insn", ""},
		{"a register explained", []string{"5: (79) r1 = *(u64 *)(r1 +8)", "invalid access to packet, off=8 size=8, R1(id=0,off=8,r=0)", "R1 offset is outside of the packet"}, "invalid access to packet, off=8 size=8, R1(id=0,off=8,r=0): R1 offset is outside of the packet", ""},
		{"a loop", []string{"; for (;;) @ a.c:3", "6: (6d) if r1 s> r2 goto pc-8 infinite loop detected at insn 7", "cur state: R1=0x1e8480", "old state: R1=0x1e8480", "processed 36 insns (limit 1000000)"}, "infinite loop detected at insn 7", "a.c:3: for (;;)"},
		{"poisoned", []string{"; f(x) @ a.c:3", "; instruction poisoned by CO-RE @ :0", "1: (85) call unknown#195896080", "invalid func unknown#195896080"}, "invalid func unknown#195896080", "a.c:3: f(x)"},
		{"nothing", []string{"processed 0 insns"}, "", ""},
	} {
		if reason, source := readLog(c.log); reason != c.reason || source != c.source {
			t.Errorf("%s: %q at %q, want %q at %q", c.name, reason, source, c.reason, c.source)
		}
	}
}

func TestLongLogsAreClipped(t *testing.T) {
	log := append(slices.Repeat([]string{"0: (b7) r0 = 0"}, 3*mostKept), "R0 why not")
	_, _, kept := Explained(&ebpf.VerifierError{Cause: errors.New("refused"), Log: log})
	if n := strings.Count(kept, "\n"); n > mostKept || !strings.HasSuffix(kept, "R0 why not") || !strings.HasPrefix(kept, "(10001 lines are left out)") {
		t.Errorf("%d lines, from %.40q", n, kept)
	}
}

func TestForbidden(t *testing.T) {
	statistic := "processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0"
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"another error", unix.EINVAL, false},
		{"no log", fmt.Errorf("load program: %w", unix.EPERM), true},
		{"statistics alone", &ebpf.VerifierError{Cause: unix.EPERM, Log: []string{statistic}}, true},
		{"a reason", &ebpf.VerifierError{Cause: unix.EACCES, Log: []string{"R5 !read_ok", statistic}}, false},
	} {
		if got := Forbidden(c.err); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}
