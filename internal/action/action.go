// Package action implements the four steps of the GitHub Action: plan, build, measure and
// report.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// Do runs a step of the action: plan, build, measure or report. It reads the inputs from
// the environment; tool is the version of this tool.
func Do(ctx context.Context, t *ui.Terminal, getenv func(string) string, tool, name string) error {
	s, err := open(t, getenv)
	if err != nil {
		if name == "report" {
			err = errors.Join(exit.Usage(err), unreported(getenv, err))
		}
		return exit.Usage(err)
	}
	s.tool = tool
	switch name {
	case "plan":
		err = s.plan(ctx)
	case "build":
		err = s.withoutToken(ctx, s.build)
	case "measure":
		err = s.withoutToken(ctx, s.measure)
	case "report":
		err = s.report(ctx)
	}
	return s.failed(name, err)
}

// step is one step of the action.
type step struct {
	t    *ui.Terminal
	tool string
	// log is the log of the job, for text that must reach the runner as a command.
	log    io.Writer
	in     *inputs
	state  state
	getenv func(string) string
	may    privileges
	// patience is how long a step waits for processes that a build left behind.
	patience time.Duration
	// on is what GitHub says about the run. In a local run it is nil, and local says why.
	on    *github.Context
	local error
}

func open(t *ui.Terminal, getenv func(string) string) (*step, error) {
	s := &step{t: t, log: t.Stdout, getenv: getenv, may: ownPrivileges(), patience: 5 * time.Second}
	if github.OnActions(getenv) {
		// The text of programs, builds and the verifier comes from strangers.
		color := t.Color
		*t = *ui.New(escape.NewLogWriter(t.Stdout), escape.NewLogWriter(t.Stderr))
		t.Color = color
	}
	var err error
	if s.in, err = readInputs(getenv); err != nil {
		return nil, err
	}
	if s.state, err = openState(getenv("EBPF_BENCH_STATE")); err != nil {
		return nil, err
	}
	s.on, s.local = github.FromEnv(getenv)
	return s, nil
}

// withoutToken runs do, which runs the code of a pull request, without the token that the
// workflow may have given to all of its steps.
func (s *step) withoutToken(ctx context.Context, do func(context.Context) error) error {
	if err := github.DropSecrets(os.Environ(), startAgain); err != nil {
		return exit.NoMeasure(fmt.Errorf("give up the token: %w", err))
	}
	if err := s.mayMeasure(); err != nil {
		return err
	}
	return do(ctx)
}

// startAgain restarts this process with another environment.
func startAgain(environ []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(self, os.Args, environ)
}

// unreported tells the later steps, and the reader of the summary, why there is no report.
func unreported(getenv func(string) string, why error) error {
	files := github.FilesFromEnv(getenv)
	return errors.Join(
		files.SetOutput("verdict", foundError),
		files.AddSummary("## ❌ Could not measure\n\n"+escape.MarkdownFence(plainError(why)), ""))
}

// token returns GitHub's token, in the steps that have it.
func (s *step) token() string { return github.Token(s.getenv) }

// api returns GitHub's API, or an error that says in one line why there is none.
func (s *step) api() (*github.API, error) {
	if s.on == nil {
		return nil, s.local
	}
	return github.NewAPI(s.on, s.token())
}

// mayMeasure refuses to run the code of a pull request where the job has write access,
// whatever else is known about the run.
func (s *step) mayMeasure() error { return exit.Usage(github.MayMeasure(s.getenv)) }

// failed records why a step failed, for the step that reports.
func (s *step) failed(step string, err error) error {
	text := plainError(err)
	if step == "report" || err == nil || text == "" { // an error that was already printed was also recorded where it was printed
		return err
	}
	if build := (*buildError)(nil); errors.As(err, &build) {
		text += "\n" + build.said
	}
	return errors.Join(err, s.state.write(failureFile, &failure{Step: step, Code: exit.CodeOf(err), Text: text}))
}
