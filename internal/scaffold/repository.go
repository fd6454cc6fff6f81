package scaffold

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
)

// Workflow returns the workflow for objects of the repository here. out is the
// file of the suite, and build the command that builds the objects; if it is
// empty, Workflow detects the build.
func (a *Objects) Workflow(ctx context.Context, out, build string) (*Workflow, error) {
	prefix := strings.TrimSuffix(git.Output(ctx, "rev-parse", "--show-prefix"), "/")
	w := &Workflow{WorkingDirectory: prefix, Config: filepath.ToSlash(out)}
	if filepath.IsAbs(out) || strings.HasPrefix(filepath.Clean(out), "..") {
		return nil, fmt.Errorf("--github: the suite %s is not below this folder, which the workflow would run in", out)
	}
	committed := true
	for i, name := range a.found {
		if filepath.IsAbs(a.objects[i].Path) {
			return nil, fmt.Errorf("--github: %s is not below this folder, and no runner has it", name)
		}
		committed = committed && git.Output(ctx, "ls-files", "--error-unmatch", "--", name) != ""
	}
	switch {
	case build != "":
		w.Build = Build{Command: build, Why: "builds the objects, of the head and of the base"}
	case committed:
		w.Build = Committed()
	default:
		var ok bool
		if w.Build, ok = DetectBuild(os.DirFS(".")); !ok {
			return nil, bench.WithHint(errors.New("--github: the objects are not in git, and nothing here looks like what builds them: no target of a Makefile, no Cargo.toml, no go:generate of bpf2go"),
				"say what builds them: --build 'make -C bpf'")
		}
	}
	return w, nil
}
