package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// SaveEntries saves runs, and says how each is filed.
func SaveEntries(ctx context.Context, t *ui.Terminal, store baseline.Store, entries []*baseline.Entry) error {
	var errs []error
	for _, e := range entries {
		began := time.Now()
		if e.Time.After(began) {
			// It would be the newest run for as long as the clock was ahead.
			t.Warn("the start time of the run, %s by the clock of its machine, is in the future: it is kept as of now",
				e.Time.Local().Format("2006-01-02 15:04"))
			e.Time = began
		}
		meta, err := store.Save(ctx, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("save to the baseline: %w", err))
			continue
		}
		saySaved(t, meta, time.Since(began))
	}
	return exit.NoMeasure(errors.Join(errs...))
}

// saySaved says how a run was filed.
func saySaved(t *ui.Terminal, m baseline.Meta, took time.Duration) {
	where := ""
	if m.Branch != "" {
		where += " on " + m.Branch
	}
	if m.Commit != "" {
		where += fmt.Sprintf(" (%.12s)", m.Commit)
	}
	t.Say("saved run %s%s in the baseline in %s", m.ID, where, unit.NS(float64(took.Nanoseconds())))
}
