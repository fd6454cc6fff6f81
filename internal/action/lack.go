package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// lack is why a head was not compared with its base although it should have been.
type lack string

// The reasons for a head that was measured alone. Titles have them, and no other text from
// results that a stranger may have written.
const (
	lacksBuild    lack = "the base does not build"
	lacksOwn      lack = "the base was not built"
	lacksSuite    lack = "the base has no such suite"
	lacksObjects  lack = "the base cannot be read"
	lacksRun      lack = "the baseline has no run of the base"
	lacksBaseline lack = "there is no baseline"
	lacksCommit   lack = "the base is not known"
	lacksAll      lack = "there is no base"
)

var lacks = []lack{lacksBuild, lacksOwn, lacksSuite, lacksObjects, lacksRun, lacksBaseline, lacksCommit}

// wantsBase reports whether there should be something to compare with.
func (r *reporter) wantsBase() bool {
	return (r.in.build != "" || r.in.baseline != "none") && (r.on == nil || r.on.OfPullRequest())
}

// lackOf returns why runs have no base, empty if they need none.
func (r *reporter) lackOf(runs []*bench.Run) lack {
	if !r.wantsBase() {
		return ""
	}
	for _, run := range runs {
		if l := lack(run.NoBase); slices.Contains(lacks, l) {
			return l
		}
	}
	return lacksAll
}

// missBase turns the pass of a head that was not compared with its base into inconclusive,
// and into a failure if the inputs want that. why says more than the finding, or nothing.
// Shards are left to the job that merges them.
func (r *reporter) missBase(ctx context.Context, f *finding, why string) {
	if f.lack == "" || r.in.shard != nil {
		return
	}
	if f.verdict == foundPass {
		f.verdict = foundInconclusive
		f.doc.Title.Mark = grid.Warned
	}
	why = cmp.Or(why, string(f.lack))
	fail := func(hint string) {
		f.doc.Title.Mark = grid.Failed
		f.err = errors.Join(f.err, exit.NoMeasure(bench.WithHint(fmt.Errorf("not compared: %s", why), hint)))
	}
	switch {
	case r.in.noBase == "fail":
		fail("the input no-base is fail; with warn it would be inconclusive")
	case r.in.strict() && f.alone:
		f.err = errors.Join(f.err, exit.NoMeasure(fmt.Errorf("inconclusive: %s", why)))
	case f.mark() == markUncompared && r.api != nil:
		before, err := r.uncomparedBefore(ctx)
		switch {
		case err != nil:
			r.tell("whether earlier pull requests were compared is not known: %v", err)
		case before != "":
			fail("nor were the two before, " + before + ": the third in a row fails, whatever no-base says, for nobody may have noticed")
		}
	}
}

// mark is what a check remembers about a finding.
type mark string

const (
	markCompared   mark = "compared"
	markUncompared mark = "not compared"
)

// mark returns the mark of a finding. A pull request that brings the first suite is not
// marked: it tells nothing about the next.
func (f *finding) mark() mark {
	switch {
	case f.lack == lacksSuite || f.alone && f.lack == "" || f.verdict == foundError:
		return ""
	case f.lack != "":
		return markUncompared
	}
	return markCompared
}

// uncomparedBefore names the last two other pull requests if neither was compared with its
// base, and else returns "".
func (r *reporter) uncomparedBefore(ctx context.Context) (string, error) {
	before, err := r.api.EarlierMarks(ctx, r.on, r.checkName(), 2)
	if err != nil || len(before) < 2 || before[0].Mark != string(markUncompared) || before[1].Mark != string(markUncompared) {
		return "", err
	}
	return fmt.Sprintf("#%d and #%d", before[1].PullRequest, before[0].PullRequest), nil
}
