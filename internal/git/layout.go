package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LayOut checks a commit out in the folder dir, as a repository of its own, so that what is
// built there can ask git and shares no file with this checkout. The submodules and the
// files of Git LFS that this checkout has are filled from it, and fetched where it lacks
// their version. The error lacks says which could not be.
func (c *Checkout) LayOut(ctx context.Context, sha, dir string) (lacks, err error) {
	if !commitForm.MatchString(sha) {
		return nil, fmt.Errorf("%.80q is not a commit", sha)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	other := *c
	other.Top, other.Prefix, other.dir = dir, ".", dir
	if err := c.copyInto(ctx, filepath.Join(dir, ".git")); err != nil {
		return nil, err
	}
	// The folder may have belonged to another working tree: that of a module, or none.
	// Who sets the times of files changes their ctime.
	for _, setting := range [][]string{{"--unset-all", "core.worktree"}, {"core.bare", "false"}, {"core.trustctime", "false"}} {
		if _, err := c.Git(ctx, append([]string{"config", "--file", filepath.Join(dir, ".git/config")}, setting...)...); err != nil && setting[0] != "--unset-all" {
			return nil, err
		}
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

// Refresh makes git see the files in the folder dir, which LayOut made, as unmodified, after
// their times were set. It fails where filters modify them.
func Refresh(ctx context.Context, env []string, dir string) error {
	c := Checkout{env: env, dir: dir, config: []string{"safe.directory=*"}}
	_, err := c.Git(ctx, "update-index", "-q", "--refresh")
	return err
}

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
		case rel == "index" || rel == "worktrees" || rel == "shallow.lock":
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
		case strings.Contains(rel, "objects/") && os.Link(name, target) == nil:
			return nil
		}
		return copyFile(name, target)
	})
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
// this commit names, unless the checkout has none at all: then its build gets them, or
// needs none.
func (c *Checkout) fillSubmodules(ctx context.Context, from *Checkout) error {
	if _, err := c.Git(ctx, "config", "--get-regexp", `^submodule\..*\.(url|active)$`); err != nil {
		return nil
	}
	here, err := c.submodules(ctx)
	if err != nil {
		return err
	}
	there, err := from.submodules(ctx)
	if err != nil {
		return err
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
