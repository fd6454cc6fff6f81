package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// insnReport is what a test of counting finds on one kernel.
type insnReport struct {
	Version int           `json:"version"`
	Tool    string        `json:"tool"`
	Testbed bench.Testbed `json:"testbed"`
	Repeat  int           `json:"repeat"`
	Total   insnTotal     `json:"total"`
	// Unread says of objects that cannot be read why, by name.
	Unread   map[string]string `json:"unread,omitempty"`
	Programs []insnProgram     `json:"programs"`
}

// insnTotal are the figures of all programs.
type insnTotal struct {
	Programs int `json:"programs"`
	Loadable int `json:"loadable"`
	// Counted are the loadable ones that load with both placements of counters.
	Counted    int `json:"counted"`
	Ran        int `json:"ran"`
	Runs       int `json:"runs"`
	Mismatches int `json:"mismatches"`
	// OracleRuns are the runs that the interpreter did too.
	OracleRuns       int `json:"oracle_runs"`
	OracleMismatches int `json:"oracle_mismatches"`
	// Divergent are programs whose runs differ by what helpers answer.
	Divergent int `json:"divergent"`
	// Growth is by how much the verifier's work grows in aggregate, as a ratio.
	GrowthMinimal    float64 `json:"growth_minimal"`
	GrowthEveryBlock float64 `json:"growth_every_block"`
	// USPerInsn is how long instrumenting takes, in µs an instruction.
	USPerInsn float64 `json:"us_per_insn"`
}

// wrong is how many programs show that counting is not exact.
func (t *insnTotal) wrong() int { return t.Mismatches + t.OracleMismatches }

// insnProgram is what was found of one program.
type insnProgram struct {
	Object  string `json:"object"`
	Program string `json:"program"`
	Type    string `json:"type"`
	Insns   int    `json:"insns"`
	// Changes are what it took for the program to load.
	Changes []string `json:"changes,omitempty"`
	// Refused is why it does not load as it is.
	Refused    *insnFailure `json:"refused,omitempty"`
	Minimal    insnLoad     `json:"minimal"`
	EveryBlock insnLoad     `json:"every_block"`
	// VerifiedInsns is the verifier's work without counters.
	VerifiedInsns int `json:"verified_insns"`

	Runs       int    `json:"runs"`
	NotRun     string `json:"not_run,omitempty"`
	Mismatch   string `json:"mismatch,omitempty"`
	OracleRuns int    `json:"oracle_runs"`
	// NoOracle is what the interpreter lacks for the program.
	NoOracle       string   `json:"no_oracle,omitempty"`
	OracleMismatch string   `json:"oracle_mismatch,omitempty"`
	Divergent      []string `json:"divergent,omitempty"`
}

// insnLoad is how a program with counters loads.
type insnLoad struct {
	Refused       *insnFailure `json:"refused,omitempty"`
	VerifiedInsns int          `json:"verified_insns"`
	// Counters and Blocks say how many blocks have one.
	Counters int `json:"counters"`
	Blocks   int `json:"blocks"`
	// NS is how long instrumenting took.
	NS int64 `json:"ns"`
}

// insnFailure is why a program does not load, in a class of reasons.
type insnFailure struct {
	Class string `json:"class"`
	Why   string `json:"why"`
}

func (p *insnProgram) counted() bool { return p.Minimal.Refused == nil && p.EveryBlock.Refused == nil }

// sum makes the totals.
func (r *insnReport) sum() {
	t := insnTotal{Programs: len(r.Programs)}
	var before, minimal, every, ns, insns float64
	for i := range r.Programs {
		p := &r.Programs[i]
		if p.Refused != nil {
			continue
		}
		t.Loadable++
		if p.counted() {
			t.Counted++
			before += float64(p.VerifiedInsns)
			minimal += float64(p.Minimal.VerifiedInsns)
			every += float64(p.EveryBlock.VerifiedInsns)
		}
		ns += float64(p.Minimal.NS + p.EveryBlock.NS)
		insns += float64(2 * p.Insns)
		t.Ran += ones(p.Runs > 0)
		t.Runs += p.Runs
		t.Mismatches += ones(p.Mismatch != "")
		t.OracleRuns += p.OracleRuns
		t.OracleMismatches += ones(p.OracleMismatch != "")
		t.Divergent += ones(len(p.Divergent) > 0)
	}
	if before > 0 {
		t.GrowthMinimal, t.GrowthEveryBlock = minimal/before, every/before
	}
	if insns > 0 {
		t.USPerInsn = ns / insns / 1000
	}
	r.Total = t
}

// rename gives the objects other names.
func (r *insnReport) rename(name func(object string) string) {
	r.Unread = renamed(r.Unread, name)
	for i := range r.Programs {
		r.Programs[i].Object = name(r.Programs[i].Object)
	}
}

func ones(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

const insnLegend = `counted are the loadable programs that load with counters too, in both placements.
ran are those that BPF_PROG_TEST_RUN can run; each run is compared with one
without counters, with the repeats, between the placements and with run_cnt, and
where the interpreter knows all that a program does, instruction by instruction
with it. divergent differ by what the named helpers answer. verifier is the growth
of the verifier's work with counters placed minimally, and in every block.`

const insnColumns = "kernel\tprograms\tloadable\tcounted\tran\truns\twrong\toracle\twrong\tdivergent\tverifier\tµs/insn"

func printInsn(w io.Writer, reports []*insnReport) error {
	return printTested(w, insnColumns, reports, insnLegend)
}

func (r *insnReport) row() string {
	t := &r.Total
	return fmt.Sprintf("%s\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f %.2f\t%.2f", ui.Clean(r.Testbed.Kernel),
		t.Programs, t.Loadable, countOf(t.Counted, t.Loadable), t.Ran, t.Runs, t.Mismatches, t.OracleRuns, t.OracleMismatches, t.Divergent,
		t.GrowthMinimal, t.GrowthEveryBlock, t.USPerInsn)
}

// details are what is wrong, and the classes of what was refused.
func (r *insnReport) details(b *strings.Builder) {
	refused := map[string]int{}
	fmt.Fprintf(b, "\nLinux %s\n", ui.Clean(r.Testbed.Kernel))
	for i := range r.Programs {
		p := &r.Programs[i]
		say := func(what, why string) {
			fmt.Fprintf(b, "  %s %s: %s: %s\n", ui.Clean(p.Object), ui.Clean(p.Program), what, ui.Clean(why))
		}
		if p.Refused != nil {
			refused[p.Refused.Class]++
			continue
		}
		for _, l := range []struct {
			what string
			load *insnLoad
		}{{"minimal", &p.Minimal}, {"every block", &p.EveryBlock}} {
			if f := l.load.Refused; f != nil {
				say("not counted, "+l.what+" ("+f.Class+")", f.Why)
			}
		}
		if p.Mismatch != "" {
			say("wrong", p.Mismatch)
		}
		if p.OracleMismatch != "" {
			say("not as the interpreter", p.OracleMismatch)
		}
		if len(p.Divergent) > 0 {
			say("divergent", strings.Join(p.Divergent, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unread)) {
		fmt.Fprintf(b, "  %s: unreadable: %s\n", ui.Clean(name), ui.Clean(r.Unread[name]))
	}
	for _, class := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(b, "  not loadable as it is: %s: %d\n", class, refused[class])
	}
}
