package probe

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// haveFreplace replaces a function of a program, and recognizes by the
// program's return value that the replacement ran.
func haveFreplace() error {
	const function, before, after = "replaced", 1, 2
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	typ := func(name string) *btf.Func {
		return &btf.Func{Name: name, Linkage: btf.GlobalFunc, Type: &btf.FuncProto{
			Return: number, Params: []btf.FuncParam{{Name: "x", Type: number}},
		}}
	}
	returns := func(name string, n int32) asm.Instructions {
		return asm.Instructions{
			btf.WithFuncMetadata(asm.Mov.Imm(asm.R0, n).WithSymbol(name), typ(name)),
			asm.Return(),
		}
	}
	entry := asm.Instructions{
		btf.WithFuncMetadata(asm.Mov.Imm(asm.R1, 0).WithSymbol("entry"), typ("entry")),
		asm.Call.Label(function), asm.Return(),
	}
	target, err := load(ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: append(entry, returns(function, before)...)})
	if err != nil {
		return err
	}
	defer target.Close()
	by, err := load(ebpf.ProgramSpec{Type: ebpf.Extension, AttachTarget: target, AttachTo: function, Instructions: returns("by", after)})
	if err != nil {
		return err
	}
	defer by.Close()
	attached, err := link.AttachFreplace(nil, "", by)
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	defer attached.Close()
	ret, err := target.Run(&ebpf.RunOptions{Data: make([]byte, 14)})
	switch {
	case err != nil:
		return inconclusive(fmt.Errorf("run: %w", err))
	case ret != after:
		return errors.New("the function ran that is replaced")
	}
	return nil
}
