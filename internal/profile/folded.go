package profile

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// WriteFolded writes the stacks as lines of functions, outermost first and after the kind
// of event and the thread, with the microseconds that they stand for, as flamegraph.pl and
// its like read them.
func (p *Profile) WriteFolded(w io.Writer) error {
	sums := map[string]time.Duration{}
	keys, took := sumBy(p, ofThread)
	for _, k := range keys {
		sums[k.stack.Folded(k.kind.String(), k.thread)] += took[k]
	}
	out := bufio.NewWriter(w)
	for _, stack := range slices.Sorted(maps.Keys(sums)) {
		if us := sums[stack].Microseconds(); us > 0 {
			fmt.Fprintf(out, "%s %d\n", stack, us)
		}
	}
	return out.Flush()
}

// stackOf is what samples have in common that flame graphs and folded stacks do not tell apart,
// at most.
type stackOf struct {
	kind   Kind
	thread string
	stack  *Stack
}

func ofThread(s *Sample) (stackOf, bool) { return stackOf{s.Kind, s.Thread.Name, s.Stack}, true }

// Folded returns the kind, the thread, if it is known, and the functions of a sample, outermost
// first. A semicolon separates them, so none has one.
func (s *Stack) Folded(kind, thread string) string {
	parts := []string{kind}
	if thread != "" {
		parts = append(parts, thread)
	}
	for _, l := range slices.Backward(s.Locations) {
		for _, f := range slices.Backward(l.Frames) {
			parts = append(parts, l.Name(f.Func))
		}
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(escape.Printable(part), ";", ":")
	}
	return strings.Join(parts, ";")
}

// Name returns a function's name, or for one without, the address in its module. Functions
// of the kernel are marked as perf's and flamegraph.pl do.
func (l *Location) Name(function string) string {
	if l.Kernel && function != "" {
		return function + "_[k]"
	}
	return l.plainName(function)
}

// plainName is Name without the mark.
func (l *Location) plainName(function string) string {
	if function == "" {
		return fmt.Sprintf("%s+0x%x", l.Base(), l.Address)
	}
	return function
}

// Base returns the name of the module without its folder.
func (l *Location) Base() string { return l.Module[strings.LastIndexByte(l.Module, '/')+1:] }
