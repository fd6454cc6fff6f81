package object

import (
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// builtins are functions that compilers call of their own accord, of those that
// Rust's compiler_builtins brings along. C has them as builtins.
const builtins = " memcpy memmove memset memcmp bcmp strlen" +
	" __multi3 __udivti3 __umodti3 __divti3 __modti3 __udivmodti4 __ashlti3 __ashrti3 __lshrti3 "

// fixFunctions makes global functions static that compilers bring along, and
// those that are hidden, which their author has said. The verifier takes a global
// function by itself, for any arguments of its types, and those of pointers to
// anything it refuses; a static one it follows from where it is called.
func fixFunctions(spec *ebpf.CollectionSpec, hidden map[string]bool) []string {
	told := changes{kind: "function"}
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			fn := btf.FuncMetadata(ins)
			if i == 0 || fn == nil || fn.Linkage != btf.GlobalFunc {
				continue
			}
			builtin := strings.Contains(builtins, " "+fn.Name+" ")
			if !builtin && !hidden[fn.Name] {
				continue
			}
			static := *fn
			static.Linkage = btf.StaticFunc
			*ins = btf.WithFuncMetadata(*ins, &static)
			if builtin {
				told.add(fn.Name, "is static instead of global: the verifier takes it only by its callers", "are static instead of global: the verifier takes them only by their callers")
			}
		}
	}
	return told.sentences()
}
