package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// findAlone judges a head that was measured alone, by its budgets and its history.
func (r *reporter) findAlone(ctx context.Context, j *judge.Judge, runs []*bench.Run, missing error) (*finding, error) {
	j.Policy.Mark(runs...)
	notes, err := j.Runs(ctx, nil, runs)
	r.Watch.Tell(notes...)
	found := &finding{alone: true, lack: r.lackOf(runs), err: errors.Join(err, judge.Failures(runs, false, missing))}
	text := ""
	if found.err != nil {
		text = report.Errors(found.err)
	}
	var remarked remarks
	for _, run := range runs {
		kernel := ""
		if len(runs) > 1 {
			kernel = run.Testbed.Kernel
		}
		for i := range run.Results {
			r := &run.Results[i]
			for _, a := range r.Alerts {
				if a.Severity == string(thresholds.Warn) {
					continue
				}
				over := budgetComplaint(r, &a)
				remarked.add(r, kernel, over)
				found.regressed = append(found.regressed, r.Benchmark)
				text += over.text + "\n"
			}
		}
	}
	found.annotations = remarked.annotations()
	slices.Sort(found.regressed)
	found.regressed = slices.Compact(found.regressed)
	m := measured.New(runs...)
	m.Explained = true
	var log, bmf bytes.Buffer
	if err := errors.Join(measured.Text(&log, m), measured.BMF(&bmf, m)); err != nil {
		return nil, exit.NoMeasure(fmt.Errorf("report: %w", err))
	}
	found.log, found.bmf = log.String(), bmf.Bytes()
	heading := grid.Heading{Text: "Measured, with no base to compare with"}
	if found.lack != "" {
		heading.Text = "Not compared: " + string(found.lack)
	}
	switch exit.CodeOf(found.err) {
	case exit.Pass:
		found.verdict = foundPass
	case exit.Regression:
		found.verdict = foundRegression
		heading.Mark = grid.Failed
		over := fmt.Sprintf("%d of %s over the limit", max(1, len(found.regressed)), unit.Plural(len(runs[0].Results), "benchmark"))
		if heading.Text = over; found.lack != "" {
			heading.Text += ", not compared: " + string(found.lack)
		}
	default:
		found.verdict, heading = foundError, notEverything
	}
	found.doc = &grid.Document{Title: heading}
	if text != "" {
		found.doc.Sections = append(found.doc.Sections, fenced(text))
	}
	found.doc.Sections = append(found.doc.Sections, fenced(found.log).Behind(unit.Plural(len(runs[0].Results), "benchmark")))
	return found, nil
}
