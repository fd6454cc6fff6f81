package hook

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// Misspelled begins the reason of a hook that no kernel is likely to have.
const Misspelled = "it looks misspelled: "

// noHook says that this kernel has none of that name, and which of its names is
// most like it. Where one is, another kernel is not going to have the hook either;
// but names that differ by their numbers are of several kernels.
func noHook(what, name string, names []string) error {
	err := fmt.Errorf("this kernel has no %s %s%s", what, name, strictyaml.DidYouMean(name, names))
	if near := strictyaml.Nearest(name, names); near == "" || unnumbered(near) == unnumbered(name) {
		return host.Cannot(err)
	}
	return fmt.Errorf("%s%w", Misspelled, err)
}

// unnumbered is a name without what kernels tell apart versions of it by.
func unnumbered(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

func noFunction(name string) error {
	return noHook("function", name, kernelFunctions(len(name)))
}

// kernelFunctions are the names of the kernel's functions that are about so long:
// there are a hundred thousand, and others are not like a name of that length.
func kernelFunctions(length int) (names []string) {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || !strings.EqualFold(f[1], "t") || max(len(f[2])-length, length-len(f[2])) > length/3+2 {
			continue
		}
		names = append(names, f[2])
	}
	return names
}

// Names are the names in this kernel of what a program is attached to that
// the kernel finds by its types.
func Names(p *ebpf.ProgramSpec) []string {
	switch {
	case p.AttachType == ebpf.AttachTraceRawTp:
		return rawTracepoints()
	case p.AttachType == ebpf.AttachTraceIter:
		return namesInTypes("bpf_iter_")
	case p.Type == ebpf.LSM:
		return namesInTypes("bpf_lsm_")
	case p.Type == ebpf.Tracing:
		return kernelFunctions(len(p.AttachTo))
	}
	return nil
}

// rawTracepoints are the kernel's tracepoints as raw_tp and tp_btf name them.
func rawTracepoints() []string { return namesInTypes("btf_trace_") }

// namesInTypes are the names in the kernel's type information that begin so,
// without that.
func namesInTypes(prefix string) (names []string) {
	kernel, err := host.Types.Kernel()
	if err != nil {
		return nil
	}
	for t, err := range kernel.All() {
		if err != nil {
			return nil
		}
		if name, ok := strings.CutPrefix(t.TypeName(), prefix); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// explain says which symbol of the file is most like one that it does not have.
func (t userTarget) explain(symbol string, err error) error {
	if !errors.Is(err, link.ErrNoSymbol) {
		return err
	}
	return fmt.Errorf("%w%s", err, strictyaml.DidYouMean(symbol, t.functions()))
}

// functions are the functions that the file has symbols of.
func (t userTarget) functions() (names []string) {
	f, err := elf.Open(t.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for _, list := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := list()
		if err != nil {
			continue // a stripped file has none
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
