// Package action does the four steps of the GitHub Action: plan, build, measure and
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

// Do does a step of the action: plan, build, measure or report. Its inputs are in the
// environment, and tool is the version of this tool.
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
	// log is the log of the job, for what is to be a command to the runner.
	log    io.Writer
	in     *inputs
	state  state
	getenv func(string) string
	may    privileges
	// patience is for what a build started and left behind.
	patience time.Duration
	// on is what GitHub says of the run. It is nil where this is a local run,
	// and local then says why.
	on    *github.Context
	local error
}

func open(t *ui.Terminal, getenv func(string) string) (*step, error) {
	s := &step{t: t, log: t.Stdout, getenv: getenv, may: ownPrivileges(), patience: 5 * time.Second}
	if github.OnActions(getenv) {
		// What programs, builds and the verifier say is from strangers.
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

// withoutToken does what runs the code of a pull request: where the workflow gave
// a token to all of its steps, it is gone before that starts.
func (s *step) withoutToken(ctx context.Context, do func(context.Context) error) error {
	if err := github.DropSecrets(os.Environ(), startAgain); err != nil {
		return exit.NoMeasure(fmt.Errorf("give up the token: %w", err))
	}
	if err := s.mayMeasure(); err != nil {
		return err
	}
	return do(ctx)
}

// startAgain makes this process one that was started with another environment.
func startAgain(environ []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(self, os.Args, environ)
}

// unreported tells the steps that come after, and who reads the summary, why
// there is no report.
func unreported(getenv func(string) string, why error) error {
	files := github.FilesFromEnv(getenv)
	return errors.Join(
		files.SetOutput("verdict", foundError),
		files.AddSummary("## ❌ Could not measure\n\n"+escape.MarkdownFence(plainError(why)), ""))
}

// token is GitHub's, of the steps that have it.
func (s *step) token() string { return github.Token(s.getenv) }

// api is GitHub's API. Where there is none, the error says why in one line.
func (s *step) api() (*github.API, error) {
	if s.on == nil {
		return nil, s.local
	}
	return github.NewAPI(s.on, s.token())
}

// mayMeasure refuses to run what a pull request brings where the job may write,
// whatever else is known of the run.
func (s *step) mayMeasure() error { return exit.Usage(github.MayMeasure(s.getenv)) }

// failed leaves what a step failed with to the step that reports.
func (s *step) failed(step string, err error) error {
	text := plainError(err)
	if step == "report" || err == nil || text == "" { // what was said already was left by who said it
		return err
	}
	if build := (*buildError)(nil); errors.As(err, &build) {
		text += "\n" + build.said
	}
	return errors.Join(err, s.state.write(failureFile, &failure{Step: step, Code: exit.CodeOf(err), Text: text}))
}
