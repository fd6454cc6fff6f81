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

// Misspelled is the start of the reason given for a hook that probably no
// kernel has.
const Misspelled = "it looks misspelled: "

// noHook says that this kernel has no hook of that name, and which of its names
// is most similar. If there is a similar one, other kernels will not have the
// hook either, unless the names differ only by numbers: such names are from
// different kernels.
func noHook(what, name string, names []string) error {
	err := fmt.Errorf("this kernel has no %s %s%s", what, name, strictyaml.DidYouMean(name, names))
	if near := strictyaml.Nearest(name, names); near == "" || unnumbered(near) == unnumbered(name) {
		return host.Cannot(err)
	}
	return fmt.Errorf("%s%w", Misspelled, err)
}

// unnumbered removes what distinguishes versions of a name in different
// kernels.
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

// kernelFunctions returns the names of the kernel's functions that have about
// this length: there are a hundred thousand, and only those can be similar.
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

// Names returns the names in this kernel to which a program can be attached, if
// the kernel finds them by its types.
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

// rawTracepoints returns the kernel's tracepoints as raw_tp and tp_btf name
// them.
func rawTracepoints() []string { return namesInTypes("btf_trace_") }

// namesInTypes returns the names in the kernel's type information that start
// with prefix, without the prefix.
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

// explain adds the file's most similar symbol to an error about a missing one.
func (t userTarget) explain(symbol string, err error) error {
	if !errors.Is(err, link.ErrNoSymbol) {
		return err
	}
	return fmt.Errorf("%w%s", err, strictyaml.DidYouMean(symbol, t.functions()))
}

// functions returns the functions for which the file has symbols.
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
