package sides

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// An error about a program of any name mentions that name, not a file that
// nobody has.
func TestMadeUpSuiteOfHostileNames(t *testing.T) {
	o, err := suite.ReadObject(filepath.Join("..", "..", "programs", "fun_xdp", "fun_xdp_bpfel.o"))
	if err != nil {
		t.Fatal(err)
	}
	o = suite.NewObject("a.o", bytes.ReplaceAll(o.Data, []byte("fun_xdp_basic\x00"), []byte("fun\x1bxdp_basic\x00")))
	one := &Side{Objects: []suite.Object{o}}
	s, err := madeUpSuite(&Matchup{Base: one, Head: one})
	if err == nil {
		t.Fatalf("made %d benchmarks", len(s.Benchmarks))
	}
	if text := err.Error(); strings.Contains(text, "made-up") || !strings.Contains(text, `name "fun\x1bxdp_basic" has characters`) || bench.Hint(err) == "" {
		t.Errorf("error %q, hint %q", text, bench.Hint(err))
	}
}
