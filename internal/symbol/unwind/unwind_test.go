package unwind

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// function is what a table says of a function.
type function struct {
	begin, size  uint64
	augmentation string // "" is zR
	program      []byte
}

// section returns an .eh_frame: in all functions, the address to return to is below the
// CFA, and the CFA at first 8 bytes above the stack pointer.
func section(functions ...function) (raw []byte) {
	entry := func(parts ...[]byte) {
		body := slices.Concat(parts...)
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(body)))
		raw = append(raw, body...)
	}
	for _, f := range functions {
		augmentation := f.augmentation
		if augmentation == "" {
			augmentation = "zR"
		}
		cie := len(raw)
		const version, codeFactor, dataFactor, absolute = 1, 1, 0x78, 0 // -8
		entry([]byte{0, 0, 0, 0, version}, []byte(augmentation+"\x00"), []byte{codeFactor, dataFactor, rip, 1, absolute, defCFA, rsp, 8, offset | rip, 1})
		fde := binary.LittleEndian.AppendUint32(nil, uint32(len(raw)+4-cie))
		fde = binary.LittleEndian.AppendUint64(fde, f.begin)
		fde = binary.LittleEndian.AppendUint64(fde, f.size)
		entry(append(fde, 0), f.program)
	}
	return raw
}

const sectionAddr = 0x10000

// everywhere maps a table to the addresses from 0x100 to 0x1000.
func everywhere(t *Table) Code {
	return func(addr uint64) (*Table, uint64, bool) {
		if addr < 0x100 || addr >= 0x1000 {
			return nil, 0, false
		}
		return t, addr, true
	}
}

func TestCallers(t *testing.T) {
	const base, rbx = 0x7000, 3
	root := function{begin: 0x800, size: 0x100, program: []byte{undefined, rip}}
	plain := function{begin: 0x200, size: 0x100}
	// The procedure linkage table of amd64 pushes 8 bytes before the 11th of 16 bytes.
	plt := []byte{defCFAExpression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	for _, c := range []struct {
		name      string
		functions []function
		regs      Registers // the stack pointer is base
		stack     []uint64
		pointers  []uint64
		want      []uint64
		whole     bool
	}{
		{"to the start", []function{plain, root}, Registers{rip: 0x210}, []uint64{0x220, 0x810}, nil, []uint64{0x210, 0x220, 0x810}, true},
		{
			"pushed registers", []function{
				{begin: 0x200, size: 0x100, program: []byte{advanceLoc | 1, defCFAOffset, 16, offset | rbp, 2, advanceLoc | 4, defCFARegister, rbp}}, root,
			},
			Registers{rip: 0x210, rbp: base + 8},
			[]uint64{0, base + 24, 0x201, 0x810}, nil, []uint64{0x210, 0x201, 0x810}, true,
		},
		{
			"a row put aside", []function{
				{begin: 0x200, size: 0x100, program: []byte{rememberState, advanceLoc1, 8, defCFAOffset, 32, advanceLoc2, 8, 0, restoreState}}, root,
			},
			Registers{rip: 0x20a}, []uint64{0, 0, 0, 0x230, 0x810}, nil, []uint64{0x20a, 0x230, 0x810}, true,
		},
		{"before the push of a PLT", []function{{begin: 0x300, size: 0x100, program: plt}, root}, Registers{rip: 0x300}, []uint64{0x810}, nil, []uint64{0x300, 0x810}, true},
		{"after the push of a PLT", []function{{begin: 0x300, size: 0x100, program: plt}, root}, Registers{rip: 0x30b}, []uint64{5, 0x810}, nil, []uint64{0x30b, 0x810}, true},
		{
			// The kernel put rip and rsp 32 and 24 bytes above the stack pointer; the function
			// was interrupted at its first instruction.
			"a signal", []function{
				{begin: 0x400, size: 0x10, augmentation: "zRS", program: []byte{
					defCFAExpression, 3, 0x77, 24, 0x06, expression, rip, 2, 0x77, 32, expression, rbx, 2, 0x77, 16,
				}}, plain, root,
			},
			Registers{rip: 0x400}, []uint64{0, 0, 0, base + 48, 0x200, 0, 0x810}, nil, []uint64{0x400, 0x201, 0x810}, true,
		},
		{"by frame pointer", []function{root}, Registers{rip: 0x210, rbp: base + 8}, []uint64{0, base + 32, 0x220, 0, base, 0x810}, nil, []uint64{0x210, 0x220, 0x810}, true},
		{"by the frame pointers of the kernel", []function{plain}, Registers{rip: 0x210}, []uint64{0x320}, []uint64{0x999, 0x320, 0x330, 0x340}, []uint64{0x210, 0x320, 0x330, 0x340}, false},
		{"beyond the copy", []function{plain}, Registers{rip: 0x210}, []uint64{0x220}, nil, []uint64{0x210, 0x220}, false},
		{"to where nothing is", []function{plain}, Registers{rip: 0x210}, []uint64{0x220, 0x5555}, nil, []uint64{0x210, 0x220}, false},
		{"downwards", []function{{begin: 0x200, size: 0x100, program: []byte{defCFA, rbp, 0}}}, Registers{rip: 0x210, rbp: base}, []uint64{0x220}, nil, []uint64{0x210}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := New(section(c.functions...), sectionAddr, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.regs[rsp] = base
			var memory []byte
			for _, w := range c.stack {
				memory = binary.LittleEndian.AppendUint64(memory, w)
			}
			got, whole := Callers(c.regs, Stack{base, memory}, everywhere(table), c.pointers)
			if !slices.Equal(got, c.want) || whole != c.whole {
				t.Errorf("got %#x, whole %t; want %#x, %t", got, whole, c.want, c.whole)
			}
		})
	}
}

// A stack without end is given up.
func TestDepthIsBounded(t *testing.T) {
	table, err := New(section(function{begin: 0x100, size: 0xf00}), sectionAddr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, 64<<10)
	for i := 0; i < len(memory); i += word {
		binary.LittleEndian.PutUint64(memory[i:], 0x150)
	}
	if got, whole := Callers(Registers{rip: 0x150}, Stack{0, memory}, everywhere(table), nil); len(got) != maxDepth || whole {
		t.Errorf("%d addresses, whole %t", len(got), whole)
	}
	// A signal frame that leads to itself.
	table, err = New(section(function{begin: 0x100, size: 0xf00, augmentation: "zRS", program: []byte{defCFA, rbp, 8}}), sectionAddr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, whole := Callers(Registers{rip: 0x150}, Stack{0, memory}, everywhere(table), nil); len(got) != maxDepth || whole {
		t.Errorf("%d addresses of a loop, whole %t", len(got), whole)
	}
}

// What a table says may take long to execute: then the stack ends.
func TestWorkIsBounded(t *testing.T) {
	const base, depth = 0x7000, 300
	memory := make([]byte, 8*depth)
	for i := range depth {
		binary.LittleEndian.PutUint64(memory[8*i:], uint64(0x210+i)) // another instruction each time
	}
	// Two bytes that lead to themselves, until they have been executed ten times each.
	forever := []byte{defCFAExpression, 3, 0x2f, 0xfd, 0xff}
	for name, c := range map[string]struct {
		program []byte
		want    int
	}{
		"short": {make([]byte, 50), depth + 1},
		"long":  {make([]byte, 1000), maxWork / 1000},
		// Of the CFA, by the stack pointer.
		"expressions": {slices.Concat([]byte{defCFAExpression, 0x80 | 1000&0x7f, 1000 >> 7}, bytes.Repeat([]byte{0x96}, 998), []byte{0x77, 8}), maxWork / (1000*(1+repeats) + 15)},
		"a loop":      {forever, 1},
	} {
		table, err := New(section(function{begin: 0x200, size: 0x800, program: c.program}), sectionAddr, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := Callers(Registers{rip: 0x200, rsp: base}, Stack{base, memory}, everywhere(table), nil); len(got) < c.want-2 || len(got) > c.want+2 {
			t.Errorf("%s: %d addresses, want %d", name, len(got), c.want)
		}
	}
}

// What would take more than is left is not begun, and may be asked for again.
func TestWorkIsNotBegun(t *testing.T) {
	table, err := New(section(function{begin: 0x200, size: 0x800, program: make([]byte, 100)}), sectionAddr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	little, enough := 100, 200
	if r := table.row(0x210, &little); r != nil || little != 100 {
		t.Errorf("with little left: %v, then %d", r, little)
	}
	if r := table.row(0x210, &enough); r == nil || enough > 100 {
		t.Errorf("with enough left: %v, then %d", r, enough)
	}
}

func TestMalformedTablesAreErrors(t *testing.T) {
	whole := section(function{begin: 0x200, size: 0x100})
	fde := int(binary.LittleEndian.Uint32(whole)) + 4
	for name, raw := range map[string][]byte{
		"no CIE": whole[fde:], "an augmentation of another kind": section(function{begin: 0x200, size: 0x100, augmentation: "eh"}),
	} {
		if _, err := New(raw, sectionAddr, nil, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// What can be read is there all the same.
	table, err := New(whole[fde:], sectionAddr, debugFrame(0x200, 0x100), nil)
	work := maxWork
	if r := table.row(0x250, &work); err == nil || r == nil {
		t.Errorf("error %v, row %v", err, r)
	}
}

// A table takes no more than the budget, however small its functions are, and what it remembers
// of them takes of it, too.
func TestTablesKeepToTheBudget(t *testing.T) {
	const size = 4 << 20
	small := section(function{begin: 0x200, size: 0x100})
	small = small[:4+binary.LittleEndian.Uint32(small)] // the CIE
	for range 1 << 20 {
		small = binary.LittleEndian.AppendUint32(small, 4)
		small = binary.LittleEndian.AppendUint32(small, uint32(len(small)))
	}
	for name, raw := range map[string][]byte{"small functions": small, "a hole": make([]byte, 64<<20)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(raw, sectionAddr, nil, budget.New(size))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > size {
			t.Errorf("%s: %d bytes were allocated, error %v", name, took, err)
		}
	}
	const rows = 3
	left := budget.New(2*256 + int64(rows*rowSize))
	table, err := New(section(function{begin: 0x200, size: 0x100}), sectionAddr, nil, left)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // those that are remembered take nothing again
		for pc := uint64(0x200); pc < 0x200+rows+1; pc++ {
			work := maxWork
			if table.row(pc, &work) == nil {
				t.Errorf("%#x: no row", pc)
			}
		}
		if len(table.rows) != rows || !left.Exceeded() {
			t.Errorf("%d rows are remembered", len(table.rows))
		}
	}
}

// debugFrame returns a .debug_frame of a function.
func debugFrame(begin, size uint64) []byte {
	const version, codeFactor, dataFactor = 3, 1, 0x78
	cie := []byte{0xff, 0xff, 0xff, 0xff, version, 0, codeFactor, dataFactor, rip, defCFA, rsp, 8, offset | rip, 1}
	raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(cie))), cie...)
	raw = binary.LittleEndian.AppendUint32(raw, 4+8+8)
	raw = binary.LittleEndian.AppendUint32(raw, 0)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(raw, begin), size)
}

// Whatever a file and a stack hold, there are callers, or there are none.
func FuzzCallers(f *testing.F) {
	plt := []byte{defCFAExpression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	f.Add(section(function{begin: 0x100, size: 0x900, program: plt}), make([]byte, 64))
	f.Add(section(function{begin: 0x100, size: 0x900, augmentation: "zPLRS", program: []byte{rememberState, restoreState, advanceLoc4, 1}}), []byte("\x50\x01\x00\x00\x00\x00\x00\x00"))
	f.Add(debugFrame(0x100, 0x900), []byte("\x50\x01\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw, memory []byte) {
		const enough = 8
		for _, addr := range []uint64{sectionAddr, 0} {
			table, _ := New(raw, addr, nil, budget.New(1<<20)) // what is malformed is not in it
			starts := []uint64{0x100, 0x150}
			for _, e := range table.entries[:min(enough, len(table.entries))] {
				starts = append(starts, e.Begin(), e.End()-1)
			}
			for _, start := range starts {
				got, _ := Callers(Registers{rip: start, rsp: 0x7000, rbp: 0x7008}, Stack{0x7000, memory},
					func(addr uint64) (*Table, uint64, bool) { return table, addr, addr != 0 }, nil)
				if len(got) == 0 || len(got) > maxDepth || got[0] != start {
					t.Errorf("%d callers", len(got))
				}
			}
		}
	})
}
