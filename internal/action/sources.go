package action

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/sides"
)

// sources maps the file names that the compiler was given to paths in the repository.
type sources struct {
	files []string
	known map[string]bool
	// workspace is where the repository is, prefix the working directory in it.
	workspace, prefix string
	paths             map[string]string
	// placed are the paths that were found.
	placed map[string]bool
}

// openSources returns the sources of the checkout around the working directory.
func (r *reporter) openSources(ctx context.Context) *sources {
	if checkout, err := openCheckout(ctx, r.on != nil); err == nil {
		files, err := checkout.Files(ctx)
		if err != nil {
			r.warn("cannot find the source files in the repository: %v", err)
			files = []string{}
		}
		return newSources(files, checkout.Top, filepath.ToSlash(checkout.Prefix))
	}
	workspace := ""
	if r.on != nil {
		workspace = r.on.Workspace
	}
	return newSources(nil, workspace, ".")
}

// newSources returns the sources for the files of a checkout. If files is nil, there is no
// checkout, and every path may be in the repository.
func newSources(files []string, workspace, prefix string) *sources {
	s := &sources{
		files: files, known: make(map[string]bool, len(files)), workspace: workspace, prefix: prefix,
		paths: map[string]string{}, placed: map[string]bool{},
	}
	for _, f := range files {
		s.known[f] = true
	}
	return s
}

// place replaces the paths in results with those of the repository, so that a report and
// its annotations agree. It leaves paths that it cannot find.
func (s *sources) place(results *bench.Results) {
	place := func(r *bench.Result) {
		if r != nil && r.Source != nil {
			if path := s.path(r.Source.File); path != "" {
				at := *r.Source
				at.File = path
				r.Source = &at
			}
		}
	}
	for _, run := range results.Runs {
		for i := range run.Results {
			place(&run.Results[i])
		}
	}
	for _, c := range results.Comparisons {
		for _, p := range c.Pairs {
			place(p.Head)
			for i := range p.Lines {
				if path := s.path(p.Lines[i].File); path != "" {
					p.Lines[i].File = path
				}
			}
		}
	}
}

// path returns the path of a file in the repository, empty if it is unknown.
func (s *sources) path(name string) string {
	path, ok := s.paths[name]
	if !ok {
		path = s.find(name)
		s.paths[name], s.placed[path] = path, path != ""
	}
	return path
}

// find returns the path in the repository of a file that the compiler knew by another
// name: below the workspace, relative to the working directory or the top, or else the one
// file that shares more trailing path elements with it than any other.
func (s *sources) find(name string) string {
	if name == "" {
		return ""
	}
	name = path.Clean(name)
	if s.workspace != "" {
		if rest, ok := strings.CutPrefix(name, path.Clean(s.workspace)+"/"); ok {
			name = rest
		}
	}
	candidates := []string{name}
	if !path.IsAbs(name) {
		candidates = []string{path.Join(s.prefix, name), name}
	}
	for _, candidate := range candidates {
		if s.known[candidate] || s.files == nil && !path.IsAbs(candidate) && !strings.HasPrefix(candidate, "../") {
			return candidate
		}
	}
	if n := sides.NearestPath(name, s.files); n >= 0 {
		return s.files[n]
	}
	return ""
}
