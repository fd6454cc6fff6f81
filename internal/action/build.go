package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/built"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/inplace"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// builder is the step that builds.
type builder struct{ planned }

// run runs the command that makes the objects in the checkout and, if the base must be
// built too, in the same folder of its own checkout.
func (b *builder) run(ctx context.Context) error {
	if b.in.build == "" {
		return nil
	}
	if err := b.in.checkConfig(); err != nil {
		return exit.Usage(err)
	}
	if err := b.openPlan(); err != nil {
		return exit.NoMeasure(err)
	}
	defer func() {
		// It holds the credentials that the checkout may have.
		if err := git.Discard(b.baseTop()); err != nil {
			b.warn("the repository of the base stays: %v", err)
		}
	}()
	if b.Base == baseBuilt {
		b.renewHead(ctx)
	}
	hasSuite := b.Base == baseBuilt && b.suiteIn(b.Top) != ""
	began := time.Now()
	if err := b.buildIn(ctx, ".", "head", inplace.Command{}); err != nil {
		return exit.NoMeasure(bench.WithHint(fmt.Errorf("build the head: %w", err), "the command is that of the input build; it runs in working-directory, and ends at the first part of it that fails"))
	}
	if b.Base != baseBuilt {
		return nil
	}
	head, _ := git.Head(ctx, github.WithoutSecrets(os.Environ()), b.Top)
	if _, err := os.Stat(b.baseDir()); errors.Is(err, os.ErrNotExist) {
		return b.noBase(lacksSuite, "the merge base has no folder "+b.Prefix)
	}
	if hasSuite && b.suiteIn(b.baseTop()) == "" {
		return b.noBase(lacksSuite, "the merge base has no "+b.in.suiteNames()[0])
	}
	b.renewBase(ctx)
	err := b.buildBesides(ctx, began)
	if ctx.Err() != nil {
		return exit.NoMeasure(errors.New("interrupted"))
	}
	if errors.Is(err, inplace.ErrDisplaced) {
		return exit.NoMeasure(bench.WithHint(err, "the base's build, or what killed it, is to blame; move your files back to their place before anything else runs"))
	}
	if err != nil {
		// Perhaps only the change makes it build.
		if failed := (*buildError)(nil); errors.As(err, &failed) {
			b.Output = failed.output
		}
		return b.noBase(lacksBuild, fmt.Sprintf("the build failed at %.12s, the merge base: %v", b.Commit, err))
	}
	if now, err := git.Head(ctx, github.WithoutSecrets(os.Environ()), b.baseTop()); err == nil && now == head && now != b.Commit {
		return b.noBase(lacksOwn, fmt.Sprintf("the build checks out %.12s itself, the head, instead of building %.12s, the merge base", now, b.Commit))
	}
	return exit.NoMeasure(b.writePlan())
}

// renewHead prepares the head for a build that makes its objects from what it changes, and
// not from what an earlier build left, and for [measurer.doubts].
func (b *builder) renewHead(ctx context.Context) {
	changed, err := built.Differing(b.baseTop(), b.Top, b.Changed)
	if err == nil {
		b.Changed = changed
		b.HeadRenewed, err = b.renew(ctx, b.Top, b.Changed, built.RenewChanged)
	}
	if err != nil {
		b.warn("the head may not be built from its own files: %v", err)
	}
}

// renewBase prepares the base for a build that takes no files of the head's for its own,
// and for [measurer.doubts].
func (b *builder) renewBase(ctx context.Context) {
	var err error
	if b.Renewed, err = b.renew(ctx, b.baseTop(), b.Changed, built.Renew); err != nil {
		b.warn("the base may not be built from its own files: %v", err)
	}
}

func (b *builder) renew(ctx context.Context, dir string, changed []string, renew func(string, []string) (time.Time, error)) (time.Time, error) {
	renewed, err := renew(dir, changed)
	if err == nil {
		// Git sees files as modified where they are, or filters modify them.
		_ = git.Refresh(ctx, github.WithoutSecrets(os.Environ()), dir)
		err = built.MarkUnread(dir)
	}
	if err != nil {
		return time.Time{}, err
	}
	return renewed, nil
}

// buildBesides builds the base, and leaves both sides with their own objects, also those in a
// folder that both builds use. The build of the head began at the time began.
func (b *builder) buildBesides(ctx context.Context, began time.Time) error {
	heads, err := built.Keep(b.Top, objectsOf(b.suiteIn(b.Top)), began)
	keeps := err == nil
	if err != nil {
		b.warn("the base's build may overwrite the head's objects: %v", err)
	}
	err = b.buildBase(ctx, heads)
	if err == nil && keeps {
		base, at := b.baseTop(), b.Top
		if b.Apart {
			at = base
		}
		if err := built.BringOutside(base, at, objectsOf(b.suiteIn(base))); err != nil {
			b.warn("the base's objects may be those of the head: %v", err)
		}
	}
	return errors.Join(err, heads.GiveBack())
}

// objectsOf returns the paths of a suite's objects, none if it cannot be read: whoever measures
// reports that.
func objectsOf(file string) (paths []string) {
	s, err := suite.Load(suite.OS, filepath.ToSlash(file))
	if err != nil {
		return nil
	}
	for _, o := range s.Objects {
		if path, err := s.LocalFile(o.Path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// buildBase builds the base where it sees its files at the paths of the head's: compilers
// put paths into objects, by __FILE__ for one, and what differs in them is no change of the
// program. Where this machine does not let it, or what builds is a service that sees the files
// of everyone, the base is built in its own folder.
func (b *builder) buildBase(ctx context.Context, heads built.Kept) error {
	at := inplace.Command{From: b.baseTop(), At: b.Top}
	why := b.canBe(ctx, at)
	if why == "" {
		err := b.buildAt(ctx, at)
		if !heads.Overwritten() || err == nil && len(objectsOf(b.suiteIn(at.From))) > 0 {
			return err
		}
		why = "what builds, such as a container, sees the files of the head there"
		if err := heads.GiveBack(); err != nil {
			return err
		}
	}
	if b.on != nil && b.Getenv("ACT") == "" {
		// Nobody else looks at the checkout of a runner. That of act may be the user's.
		at.Exchange = true
		instead := b.canBe(ctx, at)
		if instead == "" {
			return b.buildAt(ctx, at)
		}
		why = instead
	}
	b.Apart = true
	b.tell("the base is built in a folder of its own, %s, and not at the path of the head: %s", b.baseDir(), why)
	return b.buildIn(ctx, b.baseDir(), "base", inplace.Command{})
}

// buildAt builds the base at the path of the head.
func (b *builder) buildAt(ctx context.Context, at inplace.Command) error {
	if err := b.buildIn(ctx, ".", "base", at); err != nil {
		return err
	}
	return built.Relink(at.From, at.At)
}

// canBe says why nothing can run in that place, or returns "".
func (b *builder) canBe(ctx context.Context, at inplace.Command) string {
	var why bytes.Buffer
	at.Args, at.Env, at.Dir, at.Stderr = []string{"true"}, os.Environ(), "/", &why
	if err := at.Run(ctx); err != nil && ctx.Err() == nil {
		return cmp.Or(strings.TrimSpace(why.String()), err.Error())
	}
	return ""
}

// buildIn runs the build command in a folder, in a place that c says, and without the
// variables that give access to the runner or to GitHub.
func (b *builder) buildIn(ctx context.Context, dir, side string, c inplace.Command) error {
	began := time.Now()
	b.tell("building the %s: %s", side, b.in.build)
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	end := &tail{w: b.Stderr}
	c.Args = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", b.in.build}
	c.Env = append(git.Environ(github.WithoutSecrets(os.Environ())), "EBPF_BENCH_SIDE="+side, "PWD="+dir)
	c.Dir, c.Stdout, c.Stderr = dir, end, end
	err = c.Run(ctx)
	// End a line that the build left open, so that the next message starts a new one.
	if log, ok := b.Stderr.(*escape.LogWriter); ok {
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		return &buildError{err, string(end.last)}
	}
	b.tell("built the %s in %.1f s", side, time.Since(began).Seconds())
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
