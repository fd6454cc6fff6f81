package plan

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs"
)

// A program of an unknown section, which the object has no entry of, is not what a freplace
// program replaces a function of.
func TestUnknownSectionsAreNotReplaced(t *testing.T) {
	from := bundledObject(t, "fun_xdp/fun_xdp_bpfel.o")
	parsed, err := parseObjects([]suite.Object{from})
	if err != nil {
		t.Fatal(err)
	}
	e := Entry{Object: from.Path, Program: "fun_xdp_basic", Replaces: true}
	all := []Entry{e, {Object: from.Path, Program: "of an unknown section", Untyped: true}}
	if e.aim(all, parsed); e.Target != nil {
		t.Errorf("it replaces a function of %+v", e.Target)
	}
}

func TestEntriesHaveNamesOfTheirOwn(t *testing.T) {
	all := []Entry{
		{Object: "a.o", Program: "only"},
		{Object: "a.o", Program: "Handle"}, {Object: "a.o", Program: "handle"},
		{Object: "x/b.o", Program: "main"}, {Object: "y/b.o", Program: "main"}, {Object: "../c.elf", Program: "main"},
		{Object: "p-q/d.o", Program: "twin"}, {Object: "p_q/d.o", Program: "twin"},
	}
	nameEntries(all)
	var names []string
	for _, e := range all {
		names = append(names, e.Benchmark)
	}
	want := []string{"only", "a/Handle-1", "a/handle-2", "x/b/main", "y/b/main", "c/main", "p-q/d/twin-1", "p_q/d/twin-2"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if all[1].Ambiguous || !all[3].Ambiguous {
		t.Error("which programs several objects have is told wrongly")
	}
}

func TestTypesAreSpelledAsInC(t *testing.T) {
	self := &btf.Volatile{}
	self.Type = &btf.Const{Type: &btf.Array{Type: self, Nelems: 2}}
	for want, typ := range map[string]btf.Type{
		"__u32":              &btf.Typedef{Name: "__u32", Type: &btf.Int{Name: "unsigned int"}},
		"int":                &btf.Volatile{Type: &btf.Const{Type: &btf.Int{Name: "int"}}},
		"struct flow[4]":     &btf.Array{Type: &btf.Struct{Name: "flow"}, Nelems: 4},
		"struct":             &btf.Struct{},
		"pointer":            &btf.Pointer{Target: &btf.Void{}},
		"...[2][2][2][2][2]": self,
	} {
		if got := typeWords(typ); got != want {
			t.Errorf("%v is %q, want %q", typ, got, want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		value []byte
		size  int
		want  any
	}{
		{[]byte{7}, 1, uint64(7)}, {[]byte{1, 2, 3}, 3, "010203"}, {nil, 4, uint64(0)}, {nil, 3, "000000"}, {make([]byte, 17), 17, nil}, {nil, 1 << 30, nil},
	} {
		if got := literal(c.value, c.size); got != c.want {
			t.Errorf("%d bytes: %v, want %v", c.size, got, c.want)
		}
	}
}

func bundledObject(t testing.TB, path string) suite.Object {
	t.Helper()
	data, err := programs.FS.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return suite.NewObject(path, data)
}
