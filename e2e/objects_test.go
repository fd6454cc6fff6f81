package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/programs"
)

// The bundled programs that look up the same by a table and by a loop.
const (
	fast = "fun_xdp_fibonacci"
	slow = "fun_xdp_fibonacci_slow"
)

// builds returns two builds of one source file: before a change that makes a program slow,
// and after. In the second the two programs have swapped names.
func builds(t testing.TB) (before, after []byte) {
	t.Helper()
	before, err := programs.FS.ReadFile("fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	return before, swapSymbols(t, before, fast, slow)
}

// source returns what they were compiled from.
func source(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("../programs/fun_xdp/fun_xdp.c")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dearestLine returns the line in the source that costs the slow Fibonacci the most
// instructions: the loop.
func dearestLine(t testing.TB) int {
	t.Helper()
	before, _, ok := bytes.Cut(source(t), []byte("	for (__u32 i = 0; i < n; i++) {"))
	if !ok {
		t.Fatal("the source has no such loop")
	}
	return bytes.Count(before, []byte("\n")) + 1
}

// swapSymbols returns an object in which two functions have swapped names.
func swapSymbols(t testing.TB, object []byte, one, other string) []byte {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	table := file.SectionByType(elf.SHT_SYMTAB)
	at := make(map[string][]byte, 2)
	object = bytes.Clone(object)
	for i, s := range symbols {
		if s.Name == one || s.Name == other {
			// Symbols leaves out the first, which is empty.
			at[s.Name] = object[table.Offset+uint64(i+1)*elf.Sym64Size:][:4]
		}
	}
	if len(at) != 2 {
		t.Fatalf("found %d of the functions %s and %s", len(at), one, other)
	}
	a, b := binary.LittleEndian.Uint32(at[one]), binary.LittleEndian.Uint32(at[other])
	binary.LittleEndian.PutUint32(at[one], b)
	binary.LittleEndian.PutUint32(at[other], a)
	return object
}
