package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/runner"
)

// checkPrograms refuses a program that its side does not have: it would be
// measured on the other side alone, and called removed.
func (m *matchup) checkPrograms() error {
	for _, s := range []*side{m.base, m.head} {
		if s.program == "" {
			continue
		}
		names, err := runner.Programs(s.objects)
		if err != nil {
			return err
		}
		if !slices.Contains(names, s.program) {
			return fmt.Errorf("%s: unknown program %q%s: there are %s", s.Name, s.program,
				strictyaml.DidYouMean(s.program, names), strings.Join(names, ", "))
		}
	}
	return nil
}
