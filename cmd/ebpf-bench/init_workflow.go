package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/scaffold"
)

// workflow is the workflow for the objects of this repository.
func (f *initFlags) workflow(ctx context.Context, found *initObjects) (*scaffold.Workflow, error) {
	prefix := strings.TrimSuffix(git.Output(ctx, "rev-parse", "--show-prefix"), "/")
	w := &scaffold.Workflow{WorkingDirectory: prefix, Config: filepath.ToSlash(f.out)}
	if filepath.IsAbs(f.out) || strings.HasPrefix(filepath.Clean(f.out), "..") {
		return nil, fmt.Errorf("--github: the suite %s is not below this folder, which the workflow would run in", f.out)
	}
	committed := true
	for i, name := range found.found {
		if filepath.IsAbs(found.objects[i].Path) {
			return nil, fmt.Errorf("--github: %s is not below this folder, and no runner has it", name)
		}
		committed = committed && git.Output(ctx, "ls-files", "--error-unmatch", "--", name) != ""
	}
	switch {
	case f.build != "":
		w.Build = scaffold.Build{Command: f.build, Why: "builds the objects, of the head and of the base"}
	case committed:
		w.Build = scaffold.Committed()
	default:
		var ok bool
		if w.Build, ok = scaffold.DetectBuild(os.DirFS(".")); !ok {
			return nil, bench.WithHint(errors.New("--github: the objects are not in git, and nothing here looks like what builds them: no target of a Makefile, no Cargo.toml, no go:generate of bpf2go"),
				"say what builds them: --build 'make -C bpf'")
		}
	}
	return w, nil
}
