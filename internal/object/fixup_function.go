package object

import (
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// builtins are functions that compilers call on their own and that Rust's
// compiler_builtins provides. In C, they are builtins.
const builtins = " memcpy memmove memset memcmp bcmp strlen" +
	" __multi3 __udivti3 __umodti3 __divti3 __modti3 __udivmodti4 __ashlti3 __ashrti3 __lshrti3 "

// fixFunctions makes global functions static if a compiler added them, or if
// their author made them hidden. The verifier checks a global function by
// itself, for any arguments of its types, and refuses it if it takes pointers
// to anything; it follows a static function from its calls.
func fixFunctions(spec *ebpf.CollectionSpec, hidden map[string]bool) []string {
	made := changes{kind: "function"}
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
				made.add(fn.Name, "is static instead of global: the verifier takes it only by its callers", "are static instead of global: the verifier takes them only by their callers")
			}
		}
	}
	return made.sentences()
}
