package report

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
)

// Errors returns the errors that err joins as lines of text that are safe to print: each
// with its details and its hint. Errors with the same hint share it. What package context
// calls canceled is called interrupted.
func Errors(err error) string {
	var b strings.Builder
	hinted := ""
	for _, e := range exit.Each(err) {
		label := "error"
		if exit.CodeOf(e) == exit.Regression {
			label = "regression"
		}
		text := e.Error()
		if errors.Is(e, context.Canceled) {
			text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
		}
		fmt.Fprintf(&b, "ebpf-bench: %s: %s\n", label, escape.Printable(text))
		for _, line := range bench.Details(e) {
			fmt.Fprintf(&b, "    %s\n", escape.Printable(strings.ReplaceAll(line, "\t", "  ")))
		}
		if hint := bench.Hint(e); hint != "" && hint != hinted {
			fmt.Fprintf(&b, "ebpf-bench: hint: %s\n", escape.Printable(hint))
			hinted = hint
		}
	}
	return b.String()
}
