// Package action implements the four steps of the GitHub Action: plan, build, measure and
// report.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/report"
)

// Options say where a step gets its inputs, and where it writes.
type Options struct {
	// Tool is the version of this tool.
	Tool string
	// Getenv returns the variables of the environment, which carry the inputs.
	Getenv func(string) string
	// Commands is the log of the job, where the runner carries out the lines that are
	// commands. In Stdout and Stderr, which may be the same log, no line is one.
	Commands, Stdout, Stderr io.Writer
	// Watch receives what is under way.
	Watch measure.Watch
}

// Do runs a step of the action: plan, build, measure or report.
func (o Options) Do(ctx context.Context, name string) error {
	s, err := o.open()
	if err != nil {
		if name == "report" {
			err = errors.Join(exit.Usage(err), unreported(o.Getenv, err))
		}
		return exit.Usage(err)
	}
	switch name {
	case "plan":
		err = (&planner{planned: planned{step: s}}).run(ctx)
	case "build":
		err = s.withoutToken(ctx, (&builder{planned{step: s}}).run)
	case "measure":
		err = s.withoutToken(ctx, (&measurer{planned{step: s}, ownPrivileges()}).run)
	case "report":
		err = (&reporter{step: s}).run(ctx)
	}
	return s.failed(name, err)
}

// step is what all steps of the action have.
type step struct {
	Options
	in    *inputs
	state state
	// on is what GitHub says about the run. In a local run it is nil, and local says why.
	on    *github.Context
	local error
	// rehearsed reports whether act runs the workflow on the user's machine, for nobody
	// else: the commits and the repository need not be on GitHub.
	rehearsed bool
}

func (o Options) open() (*step, error) {
	s := &step{Options: o}
	var err error
	if s.in, err = readInputs(o.Getenv); err != nil {
		return nil, err
	}
	if s.state, err = openState(o.Getenv("EBPF_BENCH_STATE")); err != nil {
		return nil, err
	}
	s.on, s.local = github.FromEnv(o.Getenv)
	s.rehearsed = o.Getenv("ACT") != "" && s.token() == ""
	return s, nil
}

// tell, warn and complain pass on what a step does, what may be a problem, and errors that
// do not end it.
func (s *step) tell(format string, args ...any) { s.Watch.Tell(bench.Say(format, args...)) }
func (s *step) warn(format string, args ...any) { s.Watch.Tell(bench.Warn(format, args...)) }
func (s *step) complain(err error)              { fmt.Fprint(s.Stderr, report.Errors(err)) }

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
		files.AddSummary("## ❌ Could not measure\n\n"+escape.MarkdownFence(report.Errors(why)), ""))
}

// token returns GitHub's token, in the steps that have it.
func (s *step) token() string { return github.Token(s.Getenv) }

// openAPI returns GitHub's API, or an error that says in one line why there is none.
func (s *step) openAPI() (*github.API, error) {
	if s.on == nil {
		return nil, s.local
	}
	return github.NewAPI(s.on, s.token())
}

// mayMeasure refuses to run the code of a pull request where the job has write access,
// whatever else is known about the run.
func (s *step) mayMeasure() error { return exit.Usage(github.MayMeasure(s.Getenv)) }

// failed records why a step failed, for the step that reports.
func (s *step) failed(step string, err error) error {
	text := report.Errors(err)
	if step == "report" || err == nil || text == "" { // an error that was already printed was also recorded where it was printed
		return err
	}
	if build := (*buildError)(nil); errors.As(err, &build) {
		text += "\n" + build.output
	}
	return errors.Join(err, s.state.write(failureFile, &failure{Step: step, Code: exit.CodeOf(err), Text: text}))
}
