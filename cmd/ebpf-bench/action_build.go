package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

// build runs the command that makes the objects in the checkout, and, where the
// base is to be built too, in the same folder of its worktree.
func (s *actionStep) build(ctx context.Context) error {
	if s.in.build == "" {
		return nil
	}
	p, err := s.state.openPlan()
	if err != nil {
		return noMeasure(err)
	}
	if err := s.buildIn(ctx, ".", "head"); err != nil {
		return noMeasure(bench.WithHint(fmt.Errorf("build the head: %w", err), "The command is the input build; it runs in working-directory, by bash -e."))
	}
	if p.Base != baseBuilt {
		return nil
	}
	dir := s.baseDir(p)
	if _, err = os.Stat(dir); err == nil {
		err = s.buildIn(ctx, dir, "base")
	}
	if ctx.Err() != nil {
		return noMeasure(errors.New("interrupted"))
	}
	if err != nil {
		// The change may be what makes it build.
		p.Base, p.Note = baseNone, fmt.Sprintf("no base: the build failed at %.12s, the merge base: %v", p.Commit, err)
		s.t.say("warning: ", "%s", p.Note)
		return noMeasure(s.state.write(planFile, p))
	}
	return nil
}

// buildIn runs the command without what could tell the runner or GitHub
// anything.
func (s *actionStep) buildIn(ctx context.Context, dir, side string) error {
	began := time.Now()
	s.t.say("", "building the %s: %s", side, s.in.build)
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.in.build)
	cmd.Dir = dir
	cmd.Env = append(github.WithoutSecrets(os.Environ()), "EBPF_BENCH_SIDE="+side)
	cmd.Stdout, cmd.Stderr = s.t.stderr, s.t.stderr
	// What it started and left behind must not keep the step from ending.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return err
	}
	s.t.say("", "built the %s in %.1f s", side, time.Since(began).Seconds())
	return nil
}
