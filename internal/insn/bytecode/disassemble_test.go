package bytecode

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// All forms, encoded by hand. The text is that of the verifier's log
// (print_bpf_insn in kernel/bpf/disasm.c), except that the spaces around
// offsets are llvm-objdump's.
func TestDisassemble(t *testing.T) {
	for _, c := range []struct {
		raw  string // opcode, registers, offset, constant
		want string
	}{
		{"bf 21 0000 00000000", "r1 = r2"},
		{"bc 21 0000 00000000", "w1 = w2"},
		{"b7 01 0000 ffffffff", "r1 = -1"},
		{"07 01 0000 05000000", "r1 += 5"},
		{"c7 01 0000 03000000", "r1 s>>= 3"},
		{"3f 21 0100 00000000", "r1 s/= r2"},
		{"94 01 0100 07000000", "w1 s%= 7"},
		{"87 01 0000 00000000", "r1 = -r1"},
		{"84 01 0000 00000000", "w1 = -w1"},
		{"bf 21 0800 00000000", "r1 = (s8)r2"},
		{"bc 21 1000 00000000", "w1 = (s16)w2"},
		{"bf 21 2000 00000000", "r1 = (s32)r2"},
		{"dc 01 0000 10000000", "r1 = be16 r1"},
		{"d4 01 0000 20000000", "r1 = le32 r1"},
		{"d7 01 0000 40000000", "r1 = bswap64 r1"},
		{"61 21 0c00 00000000", "r1 = *(u32 *)(r2 + 12)"},
		{"79 a1 f8ff 00000000", "r1 = *(u64 *)(r10 - 8)"},
		{"91 21 0000 00000000", "r1 = *(s8 *)(r2 + 0)"},
		{"72 0a ffff 05000000", "*(u8 *)(r10 - 1) = 5"},
		{"6b 21 0200 00000000", "*(u16 *)(r1 + 2) = r2"},
		{"db 21 0000 00000000", "lock *(u64 *)(r1 + 0) += r2"},
		{"c3 21 0400 50000000", "lock *(u32 *)(r1 + 4) &= r2"},
		{"db 21 0000 01000000", "r2 = atomic64_fetch_add((u64 *)(r1 + 0), r2)"},
		{"c3 21 0000 a1000000", "r2 = atomic_fetch_xor((u32 *)(r1 + 0), r2)"},
		{"db 21 0000 e1000000", "r2 = atomic64_xchg((u64 *)(r1 + 0), r2)"},
		{"c3 21 0000 f1000000", "r0 = atomic_cmpxchg((u32 *)(r1 + 0), r0, r2)"},
		{"db 21 0000 00010000", "r1 = load_acquire((u64 *)(r2 + 0))"},
		{"d3 21 0000 10010000", "store_release((u8 *)(r1 + 0), r2)"},
		{"18 01 0000 39300000 00 00 0000 00000000", "r1 = 12345 ll"},
		{"30 00 0000 0e000000", "r0 = *(u8 *)skb[14]"},
		{"48 10 0000 05000000", "r0 = *(u16 *)skb[r1 + 5]"},
		{"05 00 0300 00000000", "goto +3 <4>"},
		{"06 00 0000 ffffffff", "gotol -1 <0>"},
		{"e5 00 0200 00000000", "may_goto +2 <3>"},
		{"2d 21 0300 00000000", "if r1 > r2 goto +3 <4>"},
		{"c6 01 ffff fbffffff", "if w1 s< -5 goto -1 <0>"},
		{"45 01 0100 04000000", "if r1 & 4 goto +1 <2>"},
		{"85 00 0000 01000000", "call bpf_map_lookup_elem"},
		{"85 10 0000 07000000", "call +7 <8>"},
		{"95 00 0000 00000000", "exit"},
	} {
		insns, err := asm.AppendInstructions(nil, bytes.NewReader(encoded(t, c.raw)), binary.LittleEndian, "linux")
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if got := Disassemble(insns)[0]; got != c.want {
			t.Errorf("%s is %q, want %q", c.raw, got, c.want)
		}
	}
	// Programs that the tool itself generates have symbols.
	named := asm.Instructions{
		asm.LoadMapPtr(asm.R1, 0).WithReference("events"),
		asm.LoadMapValue(asm.R2, 0, 16).WithReference(".bss"),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.Call.Label("weigh"),
		asm.Return().WithSymbol("out"),
		asm.Return().WithSymbol("weigh"),
	}
	want := []string{"r1 = map[events]", "r2 = map[.bss][0]+16", "if r1 == 0 goto +1 <6>", "call weigh", "exit", "exit"}
	if got := strings.Join(Disassemble(named), "; "); got != strings.Join(want, "; ") {
		t.Errorf("%s, want %s", got, strings.Join(want, "; "))
	}
}

func encoded(t *testing.T, s string) []byte {
	t.Helper()
	var raw []byte
	for digits := range strings.SplitSeq(strings.ReplaceAll(s, " ", ""), "\n") {
		for i := 0; i+1 < len(digits); i += 2 {
			var b byte
			for _, d := range digits[i : i+2] {
				b = b<<4 | byte(strings.IndexRune("0123456789abcdef", d))
			}
			raw = append(raw, b)
		}
	}
	return raw
}

var (
	objdumpLine     = regexp.MustCompile(`^\s*(\d+):\s+(.*?)\s*$`)
	objdumpFunction = regexp.MustCompile(`^([0-9a-f]+) <(.+)>:$`)
	objdumpLabel    = regexp.MustCompile(`(goto [+-]\d+) <[^>]*>`)
	ourTarget       = regexp.MustCompile(`(goto [+-]\d+) <\d+>`)
	// Differences in llvm-objdump's output: names that relocations stand for,
	// the lower halves of registers if a load fills these, and atomic
	// operations.
	relocated = regexp.MustCompile(`call|ll$|map\[|subprog`)
	halves    = regexp.MustCompile(`\bw(\d+)\b`)
	atomics   = regexp.MustCompile(`atomic|xchg`)
)

// The text of each instruction of our own objects agrees with llvm-objdump.
func TestDisassembleAsLLVM(t *testing.T) {
	testenv.Tools(t, "llvm-objdump")
	objects, err := filepath.Glob("../../../programs/*/*_bpfel.o")
	if err != nil || len(objects) == 0 {
		t.Fatalf("objects %v, %v", objects, err)
	}
	for _, object := range objects {
		out, err := exec.Command("llvm-objdump", "-d", "--no-show-raw-insn", "--section=xdp", "--section=perf_event", object).Output()
		if err != nil {
			t.Fatal(err)
		}
		spec, err := ebpf.LoadCollectionSpec(object)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for name, theirs := range dumped(string(out)) {
			p := spec.Programs[name]
			if p == nil {
				continue
			}
			ours := Disassemble(p.Instructions)
			slots, _ := Layout(p.Instructions)
			for i, text := range ours {
				want, ok := theirs[slots[i]]
				if !ok || relocated.MatchString(want) || atomics.MatchString(want) {
					continue
				}
				n++
				if strings.Contains(want, "*(") {
					want = halves.ReplaceAllString(want, "r$1")
				}
				if text = ourTarget.ReplaceAllString(text, "$1"); text != want {
					t.Errorf("%s: slot %d of %s is %q, and llvm-objdump has %q", object, slots[i], name, text, want)
				}
			}
		}
		if n == 0 && strings.Contains(object, "fun_xdp") {
			t.Errorf("%s: nothing to compare", object)
		}
	}
}

// dumped returns the instructions of each function in the output of
// llvm-objdump, by their slots from its start.
func dumped(out string) map[string]map[int]string {
	all := map[string]map[int]string{}
	name, start := "", 0
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if m := objdumpFunction.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[2], "LBB") {
			at, _ := strconv.ParseInt(m[1], 16, 64)
			name, start = m[2], int(at/8)
			all[name] = map[int]string{}
		} else if m := objdumpLine.FindStringSubmatch(line); m != nil && name != "" {
			at, _ := strconv.Atoi(m[1])
			all[name][at-start] = objdumpLabel.ReplaceAllString(m[2], "$1")
		}
	}
	return all
}
