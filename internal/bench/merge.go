package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Part is a file of results that is to be merged with others.
type Part struct {
	Name string
	Results
}

// DecodePart reads what DecodeResults reads, and also what a shard without
// benchmarks leaves, and what was judged: of that, what was measured.
func DecodePart(name string, r io.Reader) (*Part, error) {
	results, err := decodePart(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &Part{name, *results}, nil
}

func decodePart(r io.Reader) (*Results, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxRunSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > MaxRunSize:
		return nil, fmt.Errorf("larger than %d MiB", MaxRunSize>>20)
	}
	var kind struct {
		Version int     `json:"version"`
		Tables  tables  `json:"tables"`
		Shard   *Shard  `json:"shard"`
		Results present `json:"results"`
	}
	if err := decodeDocument(bytes.NewReader(text), &kind); err != nil {
		return nil, err
	}
	switch {
	case kind.Tables != nil && kind.Version != judgedVersion:
		return nil, fmt.Errorf("version %d of a judged comparison is not known, this ebpf-bench reads version %d", kind.Version, judgedVersion)
	case kind.Tables != nil:
		return &Results{Comparisons: kind.Tables}, nil
	case kind.Shard != nil && bool(kind.Results):
		run, err := Decode(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return &Results{Runs: []*Run{run}}, nil
	}
	return DecodeResults(bytes.NewReader(text))
}

// judgedVersion is the version of a judged comparison, which the package that
// writes it has too.
const judgedVersion = 1

// tables are those of a judged comparison.
type tables []*Comparison

func (t *tables) UnmarshalJSON(text []byte) (err error) {
	*t, err = decodeList(text, "tables", maxRuns, func(d *struct {
		Comparison json.RawMessage `json:"comparison"`
	},
	) (*Comparison, error) {
		return DecodeComparison(bytes.NewReader(d.Comparison))
	})
	if err == nil && *t != nil && len(*t) == 0 {
		err = errors.New("the document has no tables: nothing was compared")
	}
	return err
}

// MissingError says which shards no file has.
type MissingError struct {
	Shards Shards
	// Kernel is the one whose shards are missing, empty where there is just one.
	Kernel string
}

func (e *MissingError) Error() string {
	of := ""
	if e.Kernel != "" {
		of = " of Linux " + e.Kernel
	}
	return e.Shards.String() + of + e.Shards.are() + "in no file"
}

// Merge joins parts of what was measured into what one invocation would have
// measured: shards of a suite, or the same suite on several kernels. They must be
// alike in all that numbers depend on, and no benchmark may occur twice on a
// kernel. Where shards are missing, the results have those that are there, as
// partial, and the error is a *MissingError or several joined. What is joined
// nobody has judged yet: it has neither thresholds nor alerts.
func Merge(parts []*Part) (*Results, error) {
	var m merger
	for _, p := range parts {
		if len(p.Runs) > 0 && len(p.Comparisons) > 0 {
			return nil, fmt.Errorf("%s has runs and comparisons", p.Name)
		}
		for _, run := range p.Runs {
			m.all = append(m.all, &piece{file: p.Name, tool: run.Tool, shard: run.Shard, testbed: &run.Testbed, run: run, names: resultNames(run.Results)})
		}
		for _, c := range p.Comparisons {
			m.all = append(m.all, &piece{file: p.Name, tool: c.Tool, shard: c.Shard, testbed: &c.Testbed, comparison: c, names: pairNames(c.Pairs)})
		}
	}
	if len(m.all) == 0 {
		return nil, errors.New("there are no results to merge")
	}
	if err := m.checkAlike(); err != nil {
		return nil, err
	}
	return m.merge()
}

// piece is one run or comparison of a file.
type piece struct {
	file       string
	tool       string
	shard      *Shard
	testbed    *Testbed
	run        *Run
	comparison *Comparison
	names      []string
}

func resultNames(results []Result) (names []string) {
	for i := range results {
		names = append(names, results[i].Benchmark)
	}
	return names
}

func pairNames(pairs []Pair) (names []string) {
	for i := range pairs {
		names = append(names, pairs[i].Benchmark)
	}
	return names
}

type merger struct{ all []*piece }

// unlikeError says that two files are no parts of the same, and why.
func unlikeError(a, b *piece, format string, args ...any) error {
	return fmt.Errorf("%s and %s cannot be merged: %s", a.file, b.file, fmt.Sprintf(format, args...))
}

// checkAlike refuses what was not measured by one suite of one tool.
func (m *merger) checkAlike() error {
	a := m.all[0]
	for _, b := range m.all[1:] {
		switch {
		case (a.run == nil) != (b.run == nil):
			return unlikeError(a, b, "one has results of ebpf-bench run, and the other of ebpf-bench compare")
		case a.tool != b.tool:
			return unlikeError(a, b, "they are of different versions of ebpf-bench: %q and %q", a.tool, b.tool)
		case (a.shard == nil) != (b.shard == nil):
			return unlikeError(a, b, "one is a shard (%v), and the other is not", cmp.Or(a.shard, b.shard))
		case a.shard != nil && a.shard.Of != b.shard.Of:
			return unlikeError(a, b, "they are shards of different numbers: %v and %v", a.shard, b.shard)
		case a.comparison != nil && a.comparison.Base != b.comparison.Base:
			return unlikeError(a, b, "they have different bases: %s and %s", a.comparison.Base.words(), b.comparison.Base.words())
		case a.comparison != nil && a.comparison.Head != b.comparison.Head:
			return unlikeError(a, b, "they have different heads: %s and %s", a.comparison.Head.words(), b.comparison.Head.words())
		}
	}
	return nil
}

// words are all that is known of a side.
func (s Side) words() string {
	text := fmt.Sprintf("%q", s.Name)
	if s.Commit != "" {
		text += fmt.Sprintf(" of commit %.12q", s.Commit)
	}
	if s.Branch != "" {
		text += fmt.Sprintf(" on %q", s.Branch)
	}
	return text
}

// merge joins the pieces of each kernel, in the order in which they come.
func (m *merger) merge() (*Results, error) {
	var kernels []string
	on := map[string][]*piece{}
	var empty []*piece
	for _, p := range m.all {
		if len(p.names) == 0 {
			empty = append(empty, p)
			continue
		}
		if on[p.testbed.Kernel] == nil {
			kernels = append(kernels, p.testbed.Kernel)
		}
		on[p.testbed.Kernel] = append(on[p.testbed.Kernel], p)
	}
	var out Results
	var missing []error
	for _, kernel := range kernels {
		pieces := on[kernel]
		if err := checkKernel(pieces); err != nil {
			return nil, err
		}
		lacking := missingShards(append(pieces[:len(pieces):len(pieces)], empty...))
		if lacking != nil {
			if len(kernels) > 1 {
				lacking.Kernel = kernel
			}
			missing = append(missing, WithHint(lacking, "was its job ended, or its file left behind?"))
		}
		out.add(pieces, lacking)
	}
	if len(kernels) == 0 {
		return nil, errors.New("no file has a benchmark: all of them are of shards that have none")
	}
	return &out, errors.Join(missing...)
}

// checkKernel refuses what was measured on one kernel in different ways, or twice.
func checkKernel(pieces []*piece) error {
	a := pieces[0]
	files, shards := map[string]*piece{}, map[Shard]*piece{}
	for _, b := range pieces {
		if b.shard != nil {
			if other := shards[*b.shard]; other != nil {
				return unlikeError(other, b, "both have shard %v on Linux %s", b.shard, b.testbed.Kernel)
			}
			shards[*b.shard] = b
		}
		if differs := unlikeTestbed(a.testbed, b.testbed); differs != "" {
			return WithHint(unlikeError(a, b, "on Linux %s they were measured on different testbeds: %s", a.testbed.Kernel, differs), unlikeHint(a.testbed))
		}
		if b.comparison != nil {
			if differs := unlikeBase(a.comparison.BaseTestbed, b.comparison.BaseTestbed); differs != "" {
				return unlikeError(a, b, "their bases were measured on different testbeds: %s", differs)
			}
		}
		for _, name := range b.names {
			if other := files[name]; other != nil {
				return unlikeError(other, b, "both have benchmark %q on Linux %s", name, b.testbed.Kernel)
			}
			files[name] = b
		}
	}
	return nil
}

func unlikeHint(t *Testbed) string {
	if t.Mode == ModeExact {
		return "count with the same version of QEMU everywhere"
	}
	return "time all shards on machines of one kind; or count instructions, which every machine does alike (exact mode)"
}

// unlikeTestbed says in what two testbeds of the same kernel differ that numbers
// depend on, empty if in nothing. Where instructions are counted, that is not
// the host.
func unlikeTestbed(a, b *Testbed) string {
	timed := a.Mode != ModeExact
	for _, f := range []struct {
		name   string
		a, b   any
		always bool
	}{
		{"mode", a.Mode, b.Mode, true},
		{"architecture", a.Arch, b.Arch, true},
		{"build of the kernel", a.KernelBuild, b.KernelBuild, true},
		{"CPU", a.CPU, b.CPU, true},
		{"QEMU", a.QEMU, b.QEMU, !timed},
		{"number of cores", a.Cores, b.Cores, timed},
		{"hypervisor", a.Virtual, b.Virtual, timed},
		{"JIT", a.JIT, b.JIT, timed},
		{"hardening of the JIT", a.JITHarden, b.JITHarden, timed},
	} {
		if f.always && f.a != f.b {
			return fmt.Sprintf("%s %q and %q", f.name, fmt.Sprint(f.a), fmt.Sprint(f.b))
		}
	}
	if timed && !maps.Equal(a.Mitigations, b.Mitigations) {
		return "mitigations of the CPU"
	}
	return ""
}

// unlikeBase compares the testbeds of bases that were stored.
func unlikeBase(a, b *Testbed) string {
	switch {
	case a == nil && b == nil:
		return ""
	case a == nil || b == nil:
		return "one was measured beside its head, the other is stored"
	case a.Kernel != b.Kernel:
		return fmt.Sprintf("Linux %q and %q", a.Kernel, b.Kernel)
	}
	return unlikeTestbed(a, b)
}

// missingShards are those that none of the pieces is, nil if all are there.
func missingShards(pieces []*piece) *MissingError {
	first := pieces[0].shard
	if first == nil {
		return nil
	}
	there := map[int]bool{}
	for _, p := range pieces {
		there[p.shard.Part] = true
	}
	var e MissingError
	for part := 1; part <= first.Of; part++ {
		if !there[part] {
			e.Shards = append(e.Shards, Shard{part, first.Of})
		}
	}
	if len(e.Shards) == 0 {
		return nil
	}
	return &e
}

// add adds what the pieces of a kernel make together.
func (r *Results) add(pieces []*piece, lacking *MissingError) {
	var missing Shards
	if lacking != nil {
		missing = lacking.Shards
	}
	if pieces[0].run != nil {
		r.Runs = append(r.Runs, mergeRuns(pieces, missing))
		return
	}
	r.Comparisons = append(r.Comparisons, mergeComparisons(pieces, missing))
}

// firstMissing are the shards that are missing, or those that already were when one
// of the pieces was joined.
func firstMissing(missing, before Shards) Shards {
	if missing == nil {
		return before
	}
	return missing
}

func mergeRuns(pieces []*piece, missing Shards) *Run {
	out := *pieces[0].run
	out.Shard, out.Thresholds, out.Partial = nil, "", out.Partial || missing != nil
	out.Missing = firstMissing(missing, out.Missing)
	for _, p := range pieces[1:] {
		out.Missing = firstMissing(out.Missing, p.run.Missing)
		out.Partial = out.Partial || p.run.Partial
		out.Elapsed += p.run.Elapsed
		out.Measuring += p.run.Measuring
		out.Loads = min(out.Loads, p.run.Loads)
		if p.run.Started.Before(out.Started) {
			out.Started = p.run.Started
		}
	}
	out.Results = inOrder(pieces, func(p *piece) []Result { return p.run.Results })
	for i := range out.Results {
		out.Results[i].Alerts = nil
	}
	return &out
}

func mergeComparisons(pieces []*piece, missing Shards) *Comparison {
	out := *pieces[0].comparison
	out.Shard, out.Thresholds, out.Partial, out.Confirmed = nil, "", out.Partial || missing != nil, nil
	out.Missing = firstMissing(missing, out.Missing)
	for i, p := range pieces {
		out.Confirmed = append(out.Confirmed, p.comparison.Confirmed...)
		if i == 0 {
			continue
		}
		out.Missing = firstMissing(out.Missing, p.comparison.Missing)
		out.Partial = out.Partial || p.comparison.Partial
		out.Elapsed += p.comparison.Elapsed
		if p.comparison.Started.Before(out.Started) {
			out.Started = p.comparison.Started
		}
	}
	out.Pairs = inOrder(pieces, func(p *piece) []Pair { return p.comparison.Pairs })
	return &out
}

// inOrder joins what pieces have: of shards in the order of the suite, else one
// after the other.
func inOrder[T any](pieces []*piece, of func(*piece) []T) []T {
	type placed struct {
		index int
		value T
	}
	var all []placed
	for _, p := range pieces {
		for nth, v := range of(p) {
			index := 0
			if p.shard != nil {
				index = p.shard.index(nth)
			}
			all = append(all, placed{index, v})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.index, b.index) })
	values := make([]T, 0, len(all))
	for _, p := range all {
		values = append(values, p.value)
	}
	return values
}
