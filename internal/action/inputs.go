package action

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
)

// inputs are the inputs of the action, which action.yml documents.
type inputs struct {
	config     string
	mode       string
	kernels    string
	build      string
	baseline   string
	thresholds string
	failOn     string
	noBase     string
	comment    string
	name       string
	shard      *bench.Shard
	results    string
}

// inputPrefix starts the names of the variables that carry the inputs.
const inputPrefix = "EBPF_BENCH_"

const defaultBaseline = "ebpf-bench-baseline"

func readInputs(getenv func(string) string) (*inputs, error) {
	get := func(name, fallback string) string {
		if v := strings.TrimSpace(getenv(inputPrefix + name)); v != "" {
			return v
		}
		return fallback
	}
	in := &inputs{
		config:     get("CONFIG", ""),
		mode:       get("MODE", "exact"),
		kernels:    get("KERNELS", ""),
		build:      get("BUILD", ""),
		baseline:   get("BASELINE", defaultBaseline),
		thresholds: get("THRESHOLDS", ""),
		failOn:     get("FAIL_ON", "regression"),
		noBase:     get("NO_BASE", "warn"),
		comment:    get("COMMENT", "always"),
		name:       get("NAME", ""),
		results:    get("RESULTS", ""),
	}
	shard, err := parseShardInput(get("SHARD", ""))
	in.shard = shard
	return in, errors.Join(err,
		oneOf("mode", in.mode, "exact", "kvm", "host"),
		oneOf("fail-on", in.failOn, "regression", "inconclusive", "never"),
		oneOf("no-base", in.noBase, "warn", "fail"),
		oneOf("comment", in.comment, "always", "on-change", "never"),
		in.check())
}

// parseShardInput returns nil for an empty input, which means the whole suite.
func parseShardInput(text string) (*bench.Shard, error) {
	if text == "" {
		return nil, nil
	}
	shard, err := bench.ParseShard(text)
	if err != nil {
		return nil, fmt.Errorf("input shard: %w", err)
	}
	return &shard, nil
}

func oneOf(input, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	last := len(allowed) - 1
	return fmt.Errorf("input %s: it is %s or %s, not %q", input, strings.Join(allowed[:last], ", "), allowed[last], value)
}

// check refuses inputs that contradict each other.
func (in *inputs) check() error {
	switch {
	case in.mode == "host" && in.kernels != "":
		return errors.New("inputs kernels and mode: host cannot be combined: kernels run in virtual machines")
	case in.name != "" && strings.Trim(bench.Slug(in.name), "-") == "":
		return fmt.Errorf("input name: %q has no letter or digit", in.name)
	case !validPattern(in.results):
		return fmt.Errorf("input results: %q is not a valid pattern", in.results)
	case in.results != "" && in.build != "":
		return bench.WithHint(errors.New("input results: results from other jobs are only reported, so there is nothing to build"), "give build where it is measured")
	case in.results != "" && in.shard != nil:
		return bench.WithHint(errors.New("input results: results from other jobs are only reported, as a whole"), "give shard where it is measured")
	}
	return nil
}

func validPattern(pattern string) bool {
	_, err := filepath.Match(pattern, "")
	return err == nil
}

// strict reports whether too little evidence fails.
func (in *inputs) strict() bool { return in.failOn == "inconclusive" }

// baselineFolder returns the folder of the baseline, empty if it is on a branch or there
// is none.
func (in *inputs) baselineFolder() string {
	for _, prefix := range []string{"./", "../", "/"} {
		if strings.HasPrefix(in.baseline, prefix) {
			return filepath.Clean(in.baseline)
		}
	}
	return ""
}

// baselineBranch returns the branch of the baseline, empty if there is none.
func (in *inputs) baselineBranch() string {
	if in.baseline == "none" || in.baselineFolder() != "" {
		return ""
	}
	return in.baseline
}

// saves reports whether a push to the default branch saves a run. If the base is built,
// nothing needs the run, unless a baseline was asked for.
func (in *inputs) saves() bool {
	return in.baseline != "none" && in.results == "" && (in.build == "" || in.baseline != defaultBaseline)
}

// branchFolder returns the folder on the branch that has the runs of this use of the
// action. It keeps several suites, and the shards of one, apart. A baseline has folders of
// its own, which no name is.
func (in *inputs) branchFolder() string {
	var parts []string
	if in.name != "" {
		slug := strings.Trim(bench.Slug(in.name), "-")
		if folder.Reserved(slug) {
			slug += "-"
		}
		parts = append(parts, slug)
	}
	if in.shard != nil {
		parts = append(parts, fmt.Sprintf("shard-%d-of-%d", in.shard.Part, in.shard.Of))
	}
	return strings.Join(parts, "/")
}

// machines returns the kernels to measure on, and how they are run.
func (in *inputs) machines() (m fleet.Machines, err error) {
	m = fleet.Machines{Mode: in.mode, Timeout: fleet.DefaultTimeout}
	if in.mode == "host" {
		m.Mode = "off"
	}
	if in.kernels == "" {
		return m, nil
	}
	if m.Kernels, err = fleet.ParseKernels(in.kernels); err != nil {
		return m, fmt.Errorf("input kernels: %w", err)
	}
	return m, nil
}
