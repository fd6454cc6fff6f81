package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// LayOut checks a commit out in the folder dir, as a repository of its own, so that what is
// built there can ask git and shares no file with this checkout. The submodules and the
// files of Git LFS that this checkout has are filled from it, and fetched where it lacks
// their version. The error lacks says which could not be.
func (c *Checkout) LayOut(ctx context.Context, sha, dir string) (lacks, err error) {
	if !commitForm.MatchString(sha) {
		return nil, fmt.Errorf("%.80q is not a commit", sha)
	}
	if err := Remove(dir); err != nil {
		return nil, err
	}
	other := *c
	other.Top, other.Prefix, other.dir = dir, ".", dir
	repository := filepath.Join(dir, ".git")
	if err := c.copyInto(ctx, repository); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(repository, mark), nil, 0o644); err != nil {
		return nil, err
	}
	if err := c.settle(ctx, repository); err != nil {
		return nil, err
	}
	// Every command from here on is for this folder. Settings that a file includes could name
	// another one.
	if top, err := other.Git(ctx, "rev-parse", "--show-toplevel"); err != nil || !same(top, dir) {
		return nil, cmp.Or(err, fmt.Errorf("the settings of the checkout name another working tree: %s", top))
	}
	if _, err := other.Git(ctx, "update-ref", "--no-deref", "HEAD", sha); err != nil {
		return nil, err
	}
	// A partial clone fetches the files only now.
	if _, err := other.gitWith(ctx, slices.Concat(c.config, c.login), "reset", "--quiet", "--hard", sha); err != nil {
		return nil, err
	}
	return errors.Join(other.fillSubmodules(ctx, c), other.fillLFS(ctx)), nil
}

// mark is a file in each repository that LayOut made.
const mark = "ebpf-bench"

// Discard removes the repository of a folder that LayOut made, but not its files. It may hold
// the credentials of the checkout.
func Discard(dir string) error {
	repository := filepath.Join(dir, ".git")
	if _, err := os.Stat(filepath.Join(repository, mark)); err != nil {
		return nil
	}
	return os.RemoveAll(repository)
}

// Remove removes a folder that LayOut made. It fails if the folder has another repository.
func Remove(dir string) error {
	repository := filepath.Join(dir, ".git")
	if _, err := os.Lstat(repository); err == nil {
		if _, err := os.Stat(filepath.Join(repository, mark)); err != nil {
			return bench.WithHint(fmt.Errorf("%s has a repository that ebpf-bench did not make, and stays", dir),
				"it may be your checkout, if a build was killed that had exchanged the two: move it back to its place")
		}
	}
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// Builds leave folders that even their owner may not change.
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// settle makes a copied repository, and those of its submodules, belong to the working trees
// that they are in now.
func (c *Checkout) settle(ctx context.Context, repository string) error {
	return filepath.WalkDir(repository, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(name), "HEAD")); err != nil {
			return nil // in no repository, but a branch or submodule of that name
		}
		if entry.IsDir() && entry.Name() == "objects" {
			return fs.SkipDir
		}
		var settings [][]string
		switch entry.Name() {
		case "config.worktree":
			settings = [][]string{{"--unset-all", "core.worktree"}, {"--unset-all", "core.bare"}}
		case "config":
			// Who sets the times of files changes their ctime.
			settings = [][]string{{"--unset-all", "core.worktree"}, {"core.bare", "false"}, {"core.trustctime", "false"}}
		}
		for _, setting := range settings {
			if _, err := c.Git(ctx, append([]string{"config", "--file", name}, setting...)...); err != nil && setting[0] != "--unset-all" {
				return err
			}
		}
		return nil
	})
}

// same reports whether two paths lead to one folder.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Refresh makes git see the files in the folder dir as unmodified, after their times were
// set. It fails where some are, or filters modify them.
func Refresh(ctx context.Context, env []string, dir string) error {
	_, err := in(dir, env).Git(ctx, "update-index", "-q", "--refresh")
	return err
}

// Head returns the commit that is checked out in the folder dir.
func Head(ctx context.Context, env []string, dir string) (string, error) {
	return in(dir, env).Git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
}

func in(dir string, env []string) *Checkout { return In(dir, env, "safe.directory=*") }

// copyInto copies the repository, without its working tree.
func (c *Checkout) copyInto(ctx context.Context, to string) error {
	out, err := c.Git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir")
	if err != nil {
		return err
	}
	common, own, _ := strings.Cut(out, "\n")
	if err := copyRepository(common, to); err != nil {
		return fmt.Errorf("copy the repository: %w", err)
	}
	if own == common {
		return nil
	}
	// A worktree has its own submodules.
	err = copyRepository(filepath.Join(own, "modules"), filepath.Join(to, "modules"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy the submodules: %w", err)
	}
	return nil
}

// unchanging matches the files of a repository that git writes only once.
var unchanging = regexp.MustCompile(`^(.*/)?objects/([0-9a-f]{2}/([0-9a-f]{2}/)?[0-9a-f]{38,64}|pack/pack-[0-9a-f]+\.\w+)$`)

// ofNames matches the files that belong to a branch or tag of any name.
var ofNames = regexp.MustCompile(`(^|/)(refs|logs)/`)

// copyRepository copies the folder of a repository. Objects never change, so they become
// hard links if the file system has them.
func copyRepository(from, to string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != from {
			return nil // git removes its temporary files
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case rel == "index" || rel == "worktrees" || strings.HasSuffix(rel, ".lock"):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type() == fs.ModeSymlink:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !entry.Type().IsRegular():
			return nil
		case strings.HasSuffix(rel, "objects/info/alternates"):
			return copyAlternates(name, target)
		case unchanging.MatchString(rel) && !ofNames.MatchString(rel) && os.Link(name, target) == nil:
			return nil
		}
		return copyFile(name, target)
	})
}

// copyAlternates copies the list of folders with more objects, which may be relative.
func copyAlternates(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if at := strings.TrimSuffix(line, "\n"); at != "" && !filepath.IsAbs(at) && !strings.HasPrefix(at, "#") && !strings.HasPrefix(at, `"`) {
			line = filepath.Join(filepath.Dir(from), "..", at) + "\n"
		}
		out.WriteString(line)
	}
	return os.WriteFile(to, []byte(out.String()), 0o644)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// fillSubmodules checks out the submodules that the checkout from has, and those that only
// this commit names, unless the checkout has none of its own: then its build gets them, or
// needs none.
func (c *Checkout) fillSubmodules(ctx context.Context, from *Checkout) error {
	here, err := c.submodules(ctx)
	if err != nil || len(here) == 0 {
		return err
	}
	there, err := from.submodules(ctx)
	if err != nil {
		return err
	}
	if _, err := c.Git(ctx, "config", "--get-regexp", `^submodule\..*\.(url|active)$`); err != nil && len(there) > 0 {
		return nil
	}
	gone := slices.DeleteFunc(here, func(path string) bool { return slices.Contains(there, path) })
	update := []string{"submodule", "--quiet", "update", "--recursive", "--depth=1"}
	with := slices.Concat(c.config, c.login)
	_, err = c.gitWith(ctx, with, update...)
	if err == nil && len(gone) > 0 {
		_, err = c.gitWith(ctx, with, slices.Concat(update, []string{"--init", "--"}, gone)...)
	}
	if err != nil {
		return fmt.Errorf("fill the submodules: %w", err)
	}
	return nil
}

// submodules returns the paths of the submodules of the commit that is checked out.
func (c *Checkout) submodules(ctx context.Context) (paths []string, err error) {
	out, err := c.Git(ctx, "ls-tree", "-r", "-z", "--full-tree", "HEAD")
	for entry := range strings.SplitSeq(out, "\x00") {
		if rest, ok := strings.CutPrefix(entry, "160000 "); ok {
			_, path, _ := strings.Cut(rest, "\t")
			paths = append(paths, path)
		}
	}
	return paths, err
}

// fillLFS replaces the pointers of Git LFS by their files, if the checkout has any.
func (c *Checkout) fillLFS(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(c.Top, ".git/lfs/objects")); err != nil {
		return nil
	}
	if _, err := c.gitWith(ctx, slices.Concat(c.config, c.login), "lfs", "pull"); err != nil {
		return fmt.Errorf("get the files of Git LFS: %w", err)
	}
	return nil
}
