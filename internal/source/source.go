// Package source finds the source files of lines in reports, in given folders
// and nowhere else.
package source

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/explain"
)

// maxSource is the largest source file, in bytes.
const maxSource = 4 << 20

// Find finds the source files of lines, and returns their paths and their
// lines. It adds text to lines whose objects lack it. It opens only regular
// files in the folders, whatever an object or a link says.
func Find(all []*bench.Explanation, folders ...string) (paths map[string]string, texts map[string][]string) {
	roots := openRoots(folders)
	defer func() {
		for _, r := range roots {
			_ = r.Close()
		}
	}()
	paths, texts = map[string]string{}, map[string][]string{}
	sought := map[string]bool{}
	for _, e := range all {
		for i := range e.Programs {
			for j := range e.Programs[i].Lines {
				l := &e.Programs[i].Lines[j]
				if l.Source() == nil {
					continue
				}
				if !sought[l.File] {
					sought[l.File] = true
					if path, text, ok := findSource(roots, l.File); ok {
						paths[l.File], texts[l.File] = path, text
					}
				}
				// The number of a line that only the base has is from another
				// file.
				if text := texts[l.File]; l.Text == "" && l.Head != nil && l.Number <= len(text) {
					l.Text = text[l.Number-1]
				}
			}
		}
	}
	return paths, texts
}

// InRepository adds the place of the bundled objects' source in the tool's
// repository; these objects know only the file name.
func InRepository(paths map[string]string, all []*bench.Explanation) {
	for _, e := range all {
		for i := range e.Programs {
			p := &e.Programs[i]
			for _, s := range []*bench.ExplainedSide{p.Base, p.Head} {
				if s == nil {
					continue
				}
				for j := range p.Lines {
					if file := p.Lines[j].File; file != "" && paths[file] == "" && path.Base(file) == file {
						paths[file] = path.Join("programs", path.Dir(s.Object), file)
					}
				}
			}
		}
	}
}

func openRoots(folders []string) []*os.Root {
	var roots []*os.Root
	for _, dir := range folders {
		abs, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		if r, err := os.OpenRoot(abs); err == nil {
			roots = append(roots, r)
		}
	}
	return roots
}

// findSource returns the path and the lines of a file, in the first folder that
// has it.
func findSource(roots []*os.Root, file string) (path string, lines []string, ok bool) {
	// An object can name any file, and a line of it is printed.
	if !explain.IsSource(filepath.ToSlash(file)) {
		return "", nil, false
	}
	for _, r := range roots {
		name := filepath.Clean(filepath.FromSlash(file))
		if filepath.IsAbs(name) {
			rel, err := filepath.Rel(r.Name(), name)
			if err != nil {
				continue
			}
			name = rel
		}
		if !filepath.IsLocal(name) {
			continue
		}
		if text, err := readSource(r, name); err == nil {
			return filepath.Join(r.Name(), name), sourceLines(string(text)), true
		}
	}
	return "", nil, false
}

// sourceLines splits a text into lines, and clips each: a line may occur in
// many places of a report, so a text with lines longer than anybody writes must
// not be multiplied.
func sourceLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = bench.ClipText(line)
	}
	return lines
}

// readSource reads a regular file in a folder. It checks the file before
// opening it, because opening a device may have an effect.
func readSource(r *os.Root, name string) ([]byte, error) {
	regular := func(info fs.FileInfo, err error) error {
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSource) {
			err = fs.ErrInvalid
		}
		return err
	}
	if err := regular(r.Stat(name)); err != nil {
		return nil, err
	}
	file, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := regular(file.Stat()); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxSource))
}
