package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/thresholds"
)

// annotationOf is what is said of the source of a benchmark that got slower. Its
// path is still that of the build.
func annotationOf(c *bench.Comparison, v *thresholds.Verdict, several bool) github.Annotation {
	a := github.Annotation{
		Level: github.Failure, Title: v.Benchmark + ": " + string(v.Outcome),
		Message: fmt.Sprintf("%s: %s: %s", v.Benchmark, v.Measure.Name, v.Why),
	}
	if v.Severity == thresholds.Warn {
		a.Level = github.Warning
	}
	if several {
		a.Message = "Linux " + c.Testbed.Kernel + ": " + a.Message
	}
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Benchmark == v.Benchmark && p.Head != nil {
			a.Path, a.Line = sourceOf(p.Head)
		}
	}
	return a
}

// budgetAnnotation is what is said of the source of a benchmark over its budget
// that was measured alone.
func budgetAnnotation(run *bench.Run, over *thresholds.Alert) github.Annotation {
	value, limit := budgetFigures(over)
	a := github.Annotation{
		Level: github.Failure, Title: over.Benchmark + ": over budget",
		Message: fmt.Sprintf("%s: %s is %s, %s %s", over.Benchmark, over.Measure.Name, value, thresholds.LimitWords(over.Under), limit),
	}
	for i := range run.Results {
		if r := &run.Results[i]; r.Benchmark == over.Benchmark {
			a.Path, a.Line = sourceOf(r)
		}
	}
	return a
}

// sourceOf is where the program of a result is in the source, as the compiler
// was told its path.
func sourceOf(r *bench.Result) (file string, line int) {
	if r.Source == nil {
		return "", 0
	}
	return r.Source.File, r.Source.Line
}

// locate gives annotations the paths that the repository has for the files that
// the compiler was given. One that cannot be told is of no file.
func locate(annotations []github.Annotation, files []string, workspace, prefix string) {
	for i := range annotations {
		a := &annotations[i]
		if a.Path = repositoryPath(a.Path, files, workspace, prefix); a.Path == "" {
			a.Line, a.EndLine = 0, 0
		}
	}
}

// repositoryPath is the path in the repository of a file that the compiler knew
// by another: below the workspace, relative to the working directory or the top,
// or else the only one of the repository that ends in as many of the same names
// as no other.
func repositoryPath(name string, files []string, workspace, prefix string) string {
	if name == "" {
		return ""
	}
	known := make(map[string]bool, len(files))
	for _, f := range files {
		known[f] = true
	}
	name = path.Clean(name)
	if workspace != "" {
		if rest, ok := strings.CutPrefix(name, path.Clean(workspace)+"/"); ok {
			name = rest
		}
	}
	candidates := []string{name}
	if !path.IsAbs(name) {
		candidates = []string{path.Join(prefix, name), name}
	}
	for _, candidate := range candidates {
		if known[candidate] || len(files) == 0 && !path.IsAbs(candidate) && !strings.HasPrefix(candidate, "../") {
			return candidate
		}
	}
	if n := nearestPath(name, files); n >= 0 {
		return files[n]
	}
	return ""
}
