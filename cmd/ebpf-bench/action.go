package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const actionLong = `The steps of the GitHub Action, as action.yml calls them, one after the other. They
take its inputs from the environment (EBPF_BENCH_CONFIG for config and so on) and
hand on what they found by files in the folder EBPF_BENCH_STATE.

  plan     finds the base, and lays it out; has the token
  build    builds the checkout and the base; has no token
  measure  measures the two side by side; has no token
  report   judges, and tells GitHub; has the token

What has the token runs nothing that the pull request brings, and what runs it has
no token. Where there is no GitHub, all of it works on this machine alone.`

func newActionCommand(t *ui.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "action",
		Short:  "The steps of the GitHub Action",
		Long:   actionLong,
		Hidden: true,
		Args:   cli.UsageArgs(cobra.NoArgs),
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	step := func(name, short string, run func(*actionStep, *cobra.Command) error) {
		cmd.AddCommand(&cobra.Command{
			Use:   name,
			Short: short,
			Args:  cli.UsageArgs(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				s, err := openActionStep(t, os.Getenv)
				if err != nil {
					if name == "report" {
						err = errors.Join(exit.Usage(err), unreported(os.Getenv, err))
					}
					return exit.Usage(err)
				}
				return s.failed(name, run(s, cmd))
			},
		})
	}
	step("plan", "Find the base and lay it out", func(s *actionStep, cmd *cobra.Command) error { return s.plan(cmd.Context()) })
	step("build", "Build the checkout and the base", func(s *actionStep, cmd *cobra.Command) error { return s.withoutToken(cmd.Context(), s.build) })
	step("measure", "Measure base and head side by side", func(s *actionStep, cmd *cobra.Command) error { return s.withoutToken(cmd.Context(), s.measure) })
	step("report", "Judge what was measured, and tell GitHub", func(s *actionStep, cmd *cobra.Command) error { return s.report(cmd.Context()) })
	return cmd
}

// actionStep is one step of the action.
type actionStep struct {
	t *ui.Terminal
	// log is the log of the job, for what is to be a command to the runner.
	log    io.Writer
	in     *actionInputs
	state  actionState
	getenv func(string) string
	may    privileges
	// patience is for what a build started and left behind.
	patience time.Duration
	// on is what GitHub says of the run. It is nil where this is a local run,
	// and local then says why.
	on    *github.Context
	local error
}

func openActionStep(t *ui.Terminal, getenv func(string) string) (*actionStep, error) {
	s := &actionStep{t: t, log: t.Stdout, getenv: getenv, may: ownPrivileges(), patience: 5 * time.Second}
	if github.OnActions(getenv) {
		// What programs, builds and the verifier say is from strangers.
		color := t.Color
		*t = *ui.New(escape.NewLogWriter(t.Stdout), escape.NewLogWriter(t.Stderr))
		t.Color = color
	}
	var err error
	if s.in, err = readActionInputs(getenv); err != nil {
		return nil, err
	}
	if s.state, err = openActionState(getenv("EBPF_BENCH_STATE")); err != nil {
		return nil, err
	}
	s.on, s.local = github.FromEnv(getenv)
	return s, nil
}

// withoutToken does what runs the code of a pull request: where the workflow gave
// a token to all of its steps, it is gone before that starts.
func (s *actionStep) withoutToken(ctx context.Context, do func(context.Context) error) error {
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
func (s *actionStep) token() string { return github.Token(s.getenv) }

// api is GitHub's API. Where there is none, the error says why in one line.
func (s *actionStep) api() (*github.API, error) {
	if s.on == nil {
		return nil, s.local
	}
	return github.NewAPI(s.on, s.token())
}

// mayMeasure refuses to run what a pull request brings where the job may write,
// whatever else is known of the run.
func (s *actionStep) mayMeasure() error { return exit.Usage(github.MayMeasure(s.getenv)) }

// failed leaves what a step failed with to the step that reports.
func (s *actionStep) failed(step string, err error) error {
	text := plainError(err)
	if step == "report" || err == nil || text == "" { // what was said already was left by who said it
		return err
	}
	if build := (*buildError)(nil); errors.As(err, &build) {
		text += "\n" + build.said
	}
	return errors.Join(err, s.state.write(failureFile, &actionFailure{Step: step, Code: exit.CodeOf(err), Text: text}))
}
