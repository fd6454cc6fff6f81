package object

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// calls is a program that zeroes a part of its stack with a memset of that
// name, as Rust's compiler adds it.
func calls(name string) *ebpf.CollectionSpec {
	number := &btf.Int{Name: "u64", Size: 8}
	void := &btf.Pointer{Target: (*btf.Void)(nil)}
	global := func(name string, params ...btf.FuncParam) *btf.Func {
		return &btf.Func{Name: name, Linkage: btf.GlobalFunc, Type: &btf.FuncProto{Return: number, Params: params}}
	}
	memset := global(name, btf.FuncParam{Name: "to", Type: void}, btf.FuncParam{Name: "c", Type: number}, btf.FuncParam{Name: "n", Type: number})
	entry := btf.WithFuncMetadata(asm.Mov.Reg(asm.R1, asm.RFP).WithSymbol("prog"), global("prog", btf.FuncParam{Name: "ctx", Type: void}))
	first := btf.WithFuncMetadata(asm.StoreMem(asm.R1, 0, asm.R2, asm.DWord).WithSymbol(name), memset)
	return &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"prog": {
		Name: "prog", Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{
			entry, asm.Add.Imm(asm.R1, -8), asm.Mov.Imm(asm.R2, 0), asm.Mov.Imm(asm.R3, 8),
			asm.Call.Label(name), asm.Mov.Imm(asm.R0, 2), asm.Return(),
			first, asm.Mov.Imm(asm.R0, 0), asm.Return(),
		},
	}}}
}

func linkage(t *testing.T, spec *ebpf.CollectionSpec, name string) btf.FuncLinkage {
	t.Helper()
	for i := range spec.Programs["prog"].Instructions {
		if fn := btf.FuncMetadata(&spec.Programs["prog"].Instructions[i]); fn != nil && fn.Name == name {
			return fn.Linkage
		}
	}
	t.Fatalf("no function %s", name)
	return 0
}

func TestBuiltinsAreStatic(t *testing.T) {
	for _, name := range []string{"memset", "memcpy", "memmove", "memcmp", "__multi3"} {
		o := &Object{spec: calls(name)}
		spec, changes := o.Program("prog")
		if linkage(t, spec, name) != btf.StaticFunc || linkage(t, spec, "prog") != btf.GlobalFunc {
			t.Errorf("%s is not static", name)
		}
		if linkage(t, o.spec, name) != btf.GlobalFunc {
			t.Error("the object has changed")
		}
		hasChange(t, changes, "function "+name+" is static")
	}
	spec, changes := (&Object{spec: calls("own")}).Program("prog")
	if linkage(t, spec, "own") != btf.GlobalFunc || len(changes) != 0 {
		t.Errorf("a function of the program's own is changed: %q", changes)
	}
}

// The verifier refuses the function if it is global, and accepts it here.
func TestBuiltinsLoad(t *testing.T) {
	testenv.Root(t)
	asIs := calls("memset")
	if coll, err := ebpf.NewCollection(asIs); err == nil {
		coll.Close()
		t.Error("the kernel takes a global memset: the test shows nothing")
	}
	spec, _ := (&Object{spec: calls("memset")}).Program("prog")
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	coll.Close()
}
