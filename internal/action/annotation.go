package action

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

// remarks collects the complaints about programs that got slower or are over budget. Each
// program gets one annotation, however much is wrong with it.
type remarks struct {
	all []*remark
	at  map[place]*remark
}

// place is a program and its position in the source.
type place struct {
	program, file string
	line          int
}

type remark struct {
	place
	complaints []*complaint
	at         map[string]*complaint
	// dearest are the source lines whose cost grew, the largest growth first.
	dearest []bench.Line
}

// complaint is about one measure of one benchmark. Complaints sort by rank, lowest first,
// then by growth, largest first.
type complaint struct {
	benchmark, outcome, text string
	rank                     int
	ratio                    float64
	kernels                  []string
}

// add adds a complaint about the program of a result. kernel is empty if there is only
// one. A complaint that several kernels share is added once.
func (l *remarks) add(r *bench.Result, kernel string, c complaint) *remark {
	at := place{program: r.Program}
	if r.Source != nil {
		at.file, at.line = r.Source.File, r.Source.Line
	}
	of := l.at[at]
	if of == nil {
		if l.at == nil {
			l.at = map[place]*remark{}
		}
		of = &remark{place: at, at: map[string]*complaint{}}
		l.at[at], l.all = of, append(l.all, of)
	}
	same := of.at[c.text]
	if same == nil {
		same = &c
		of.at[c.text], of.complaints = same, append(of.complaints, same)
	}
	if kernel != "" {
		same.kernels = unit.AppendNew(same.kernels, kernel)
	}
	return of
}

// dear records the lines of a pair whose cost grew, unless an earlier pair of the same
// program already did.
func (r *remark) dear(p *bench.Pair) {
	if len(r.dearest) == 0 {
		r.dearest = report.DearestLines(p)
	}
}

// outcomeRanks are the outcomes that get an annotation, the worst first.
var outcomeRanks = []thresholds.Outcome{thresholds.Regression, thresholds.OverBudget, thresholds.Removed}

var outcomeWords = map[thresholds.Outcome]string{thresholds.Regression: "regression", thresholds.OverBudget: "over budget", thresholds.Removed: "removed"}

// complaintOf returns the complaint of a verdict.
func complaintOf(v *thresholds.Verdict) complaint {
	c := complaint{
		benchmark: v.Benchmark, outcome: outcomeWords[v.Outcome], text: judge.TextOf(v).Error(),
		rank: slices.Index(outcomeRanks, v.Outcome),
	}
	if v.Severity == thresholds.Warn {
		c.rank += len(outcomeRanks)
	}
	if v.Change != nil {
		c.ratio = v.Change.Ratio
	}
	return c
}

// budgetComplaint returns the complaint about a benchmark that was measured alone and is
// over its budget.
func budgetComplaint(r *bench.Result, over *bench.Alert) complaint {
	return complaint{
		benchmark: r.Benchmark, outcome: outcomeWords[thresholds.OverBudget], rank: 1,
		text: r.Benchmark + ": " + measured.OverBudget(r, over),
	}
}

// annotations returns the annotations of the remarks in order.
func (l *remarks) annotations() []github.Annotation {
	var all []github.Annotation
	for _, r := range l.all {
		all = append(all, r.annotations()...)
	}
	return all
}

// maxComplaints is how many measures an annotation lists.
const maxComplaints = 10

// annotations returns the annotation of the remark, at the line that grew most if one is
// known and else where the program begins, and a short one for each other line that grew.
func (r *remark) annotations() []github.Annotation {
	main := r.annotation()
	all := []github.Annotation{main}
	for i := range r.dearest {
		l := &r.dearest[i]
		all[0].Message += "\n" + report.LineText(l, 0)
		switch at := l.Source(); {
		case at == nil:
		case i == 0:
			all[0].Path, all[0].Line = at.File, at.Line
		default:
			all = append(all, github.Annotation{
				Level: main.Level, Path: at.File, Line: at.Line,
				Title: main.Title, Message: report.LineChange(l),
			})
		}
	}
	return all
}

func (r *remark) annotation() github.Annotation {
	slices.SortStableFunc(r.complaints, func(a, b *complaint) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.ratio, a.ratio))
	})
	worst := r.complaints[0]
	benchmarks := map[string]bool{}
	var lines []string
	for i, c := range r.complaints {
		benchmarks[c.benchmark] = true
		if i >= maxComplaints {
			continue
		}
		line := c.text
		if len(c.kernels) > 0 {
			line = "Linux " + strings.Join(c.kernels, ", ") + ": " + line
		}
		lines = append(lines, line)
	}
	if more := len(r.complaints) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, which the report has", more))
	}
	a := github.Annotation{
		Level: github.Failure, Path: r.file, Line: r.line,
		Title: worst.benchmark + ": " + worst.outcome, Message: strings.Join(lines, "\n"),
	}
	if len(benchmarks) > 1 {
		a.Title = fmt.Sprintf("%s: %s, in %d benchmarks", r.program, worst.outcome, len(benchmarks))
	}
	if worst.rank >= len(outcomeRanks) {
		a.Level = github.Warning
	}
	return a
}
