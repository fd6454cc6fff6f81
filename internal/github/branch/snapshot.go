package branch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	gh "github.com/google/go-github/v53/github"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/github"
)

// snapshot is the content of the branch at one commit. The zero snapshot is that of a
// branch that does not exist yet.
type snapshot struct {
	commit, tree string
	// files maps the paths of the store's files to the SHA-1 by which git keeps them.
	files map[string]string
	// pack and attributes are the SHA-1 of two files beside the store's.
	pack, attributes string
}

// fileForm matches the names of a store's files. Other files on the branch are left alone.
var fileForm = regexp.MustCompile(`^runs/[0-9A-Z]{16}-[0-9a-f]{8}/[^/]{1,255}$`)

const (
	packFile       = ".git-small-files"
	attributesFile = ".gitattributes"
	// maxBlob is the size of the largest blob that GitHub serves, in bytes.
	maxBlob = 100 << 20
)

var errTruncated = bench.WithHint(
	errors.New("the branch has more files than GitHub lists"),
	"prune a checkout of the branch, or begin another branch")

// path returns the path on the branch of a file of the store.
func (b *Store) path(name string) string { return path.Join(b.folder, name) }

// snapshot returns the current content of the branch.
func (b *Store) snapshot(ctx context.Context) (*snapshot, error) {
	s, err := b.readSnapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read branch %s: %w", b.name, err)
	}
	return s, nil
}

func (b *Store) readSnapshot(ctx context.Context) (*snapshot, error) {
	git, a := b.api.Client.Git, b.api
	ref, _, err := git.GetRef(ctx, a.Owner, a.Repo, "heads/"+b.name)
	switch github.Status(err) {
	case http.StatusNotFound, http.StatusConflict: // no branch, or no commit at all
		return &snapshot{}, nil
	}
	if err != nil {
		return nil, err
	}
	s := &snapshot{commit: ref.GetObject().GetSHA(), files: make(map[string]string)}
	commit, _, err := git.GetCommit(ctx, a.Owner, a.Repo, s.commit)
	if err != nil {
		return nil, err
	}
	s.tree = commit.GetTree().GetSHA()
	tree, _, err := git.GetTree(ctx, a.Owner, a.Repo, s.tree, true)
	if err != nil {
		return nil, err
	}
	if tree.GetTruncated() {
		return nil, errTruncated
	}
	for _, e := range tree.Entries {
		s.take(b.folder, e)
	}
	return s, nil
}

// take adds an entry of the tree, if it is a file of the store in the folder.
func (s *snapshot) take(folder string, e *gh.TreeEntry) {
	name := e.GetPath()
	if folder != "" {
		var ok bool
		if name, ok = strings.CutPrefix(name, folder+"/"); !ok {
			return
		}
	}
	switch {
	case e.GetType() != "blob" || e.GetSize() > maxBlob || !github.IsSHA(e.GetSHA()):
	case name == packFile:
		s.pack = e.GetSHA()
	case name == attributesFile:
		s.attributes = e.GetSHA()
	case fileForm.MatchString(name):
		s.files[name] = e.GetSHA()
	}
}
