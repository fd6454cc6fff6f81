package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// objectsTested is what a selftest says of the programs of objects on one kernel.
type objectsTested interface {
	// row is the kernel's line in the table, its cells separated by tabs.
	row() string
	// details are what the table counts, by name.
	details(*strings.Builder)
}

// printTested prints a line for each kernel, below them what is to be said of
// each, and what the columns mean.
func printTested[R objectsTested](w io.Writer, columns string, reports []R, legend string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, columns)
	for _, r := range reports {
		fmt.Fprintln(tw, r.row())
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range reports {
		r.details(&b)
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", b.String(), legend)
	return err
}

func encodeTested[R any](w io.Writer, reports []R) error { return json.NewEncoder(w).Encode(reports) }

// countOf is a count and its percentage of another, "-" of nothing.
func countOf(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %.2f%%", n, 100*float64(n)/float64(of))
}

// renamed has what is said of objects under other names of theirs.
func renamed(said map[string]string, name func(object string) string) map[string]string {
	out := map[string]string{}
	for object, why := range said {
		out[name(object)] = why
	}
	return out
}
