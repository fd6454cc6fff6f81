package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
)

// build runs the command that makes the objects in the checkout and, if the base must be
// built too, in the same folder of its worktree.
func (s *step) build(ctx context.Context) error {
	if s.in.build == "" {
		return nil
	}
	if err := s.checkConfig(); err != nil {
		return exit.Usage(err)
	}
	p, err := s.state.openPlan()
	if err != nil {
		return exit.NoMeasure(err)
	}
	if err := s.buildIn(ctx, ".", "head"); err != nil {
		return exit.NoMeasure(bench.WithHint(fmt.Errorf("build the head: %w", err), "the command is that of the input build; it runs in working-directory, and ends at the first part of it that fails"))
	}
	if p.Base != baseBuilt {
		return nil
	}
	dir := s.baseDir(p)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		s.noBase(p, "the merge base has no folder "+p.Prefix)
		return exit.NoMeasure(s.state.write(planFile, p))
	}
	err = s.buildIn(ctx, dir, "base")
	if ctx.Err() != nil {
		return exit.NoMeasure(errors.New("interrupted"))
	}
	if err != nil {
		// Perhaps only the change makes it build.
		s.noBase(p, fmt.Sprintf("the build failed at %.12s, the merge base: %v", p.Commit, err))
		return exit.NoMeasure(s.state.write(planFile, p))
	}
	return nil
}

// checkConfig checks that the suite exists before a build takes minutes.
func (s *step) checkConfig() error {
	if s.in.config == "" {
		return nil
	}
	if _, err := os.Stat(s.in.config); err != nil {
		return bench.WithHint(fmt.Errorf("input config: %w", err), "it is the path of the suite file, relative to working-directory; it must be there before the build")
	}
	return nil
}

// buildIn runs the build command without the variables that give access to the runner or
// to GitHub.
func (s *step) buildIn(ctx context.Context, dir, side string) error {
	began := time.Now()
	s.tell("building the %s: %s", side, s.in.build)
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.in.build)
	cmd.Dir = dir
	cmd.Env = append(github.WithoutSecrets(os.Environ()), "EBPF_BENCH_SIDE="+side)
	end := &tail{w: s.Stderr}
	cmd.Stdout, cmd.Stderr = end, end
	// A process that the build left behind must not keep the step from ending, and is not
	// a failure.
	cmd.WaitDelay = s.patience
	err := cmd.Run()
	// End a line that the build left open, so that the next message starts a new one.
	if log, ok := s.Stderr.(*escape.LogWriter); ok {
		err = errors.Join(err, log.Close())
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return &buildError{err, string(end.last)}
	}
	s.tell("built the %s in %.1f s", side, time.Since(began).Seconds())
	return nil
}

// buildError is why a build failed, with the end of its output.
type buildError struct {
	error
	output string
}

func (e *buildError) Unwrap() error { return e.error }

// tail passes on what is written to it, and keeps the end.
type tail struct {
	w    io.Writer
	last []byte
}

// maxTail is how much of a build's output a report shows, in bytes.
const maxTail = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if over := len(t.last) - maxTail; over > 0 {
		t.last = t.last[over:]
		// Drop the line that was cut in half.
		if _, rest, ok := bytes.Cut(t.last, []byte("\n")); ok {
			t.last = rest
		}
	}
	return t.w.Write(p)
}
