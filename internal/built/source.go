package built

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is a source of an object.
type source struct {
	file string
	how  how
}

// how says how a file of a checkout was found by a name that an object has.
type how int

const (
	absent how = iota
	// ambiguous: several files can be meant.
	ambiguous
	// certain: the name is its path.
	certain
	// likely: their ends agree, and nothing has that path here. It may be that of a container,
	// or mapped.
	likely
	// copied: what has that path has its content, or that of the other side's.
	copied
)

// find returns the file of the checkout own that an object names.
func (s *Sides) find(own, other *tree, name string) (file string, as how) {
	name = filepath.Clean(name)
	elsewhere := false
	if filepath.IsAbs(name) {
		names := []string{name}
		if real, err := filepath.EvalSymlinks(name); err == nil {
			names, elsewhere = append(names, real), true
		}
		within := false
		for _, name := range names {
			for _, dir := range own.seen {
				if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
					if own.stat(rel) != nil {
						return rel, certain
					}
					within = true
				}
			}
		}
		if within {
			return "", absent
		}
		name = names[len(names)-1]
	}
	most, parts := 0, strings.Split(name, "/")
	for _, f := range own.byName[filepath.Base(name)] {
		switch n := commonEnd(strings.Split(f, "/"), parts); {
		case n > most || f == name:
			file, as, most = f, likely, n
		case n == most && file != name:
			file, as = "", ambiguous
		}
	}
	switch {
	case as != likely || !elsewhere:
		return file, as
	case own.isCopy(name, file), other.isCopy(name, file):
		return file, copied
	}
	return "", absent
}

// commonEnd returns how many names two paths have in common at their ends.
func commonEnd(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// sourceTypes are the file name extensions of sources, other than headers, that compilers of BPF programs read.
var sourceTypes = []string{".c", ".cc", ".cpp", ".rs", ".S", ".s", ".zig"}

func isHeader(name string) bool { return strings.HasPrefix(filepath.Ext(name), ".h") }

func isSource(name string) bool {
	return isHeader(name) || slices.Contains(sourceTypes, filepath.Ext(name))
}

// sources returns the source files that changed, but for those in folders.
func (s *Sides) sources() []string {
	return slices.DeleteFunc(slices.Clone(s.changed), func(name string) bool { return !isSource(name) })
}

// alike returns the sources that have the name of an object, but for what follows its stem:
// x.c or x.bpf.c for x.o.
func (t *tree) alike(object string) (files []string) {
	stem := func(name string) string {
		name, _, _ = strings.Cut(filepath.Base(name), ".")
		return name
	}
	for name, all := range t.byName {
		if stem(name) == stem(object) && isSource(name) && !isHeader(name) {
			files = append(files, all...)
		}
	}
	slices.Sort(files)
	return files
}

var directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(?:(include|include_next)[ \t]*(["<])([^">\n]+)[">]|(if|ifdef|endif)\b|(ifndef|define)[ \t]+(\w+))`)

// inclusion is the name of a file that a source includes. It is sure if it is a path from the
// source's folder, and included whatever is defined.
type inclusion struct {
	name string
	sure bool
}

func inclusions(text []byte) (all []inclusion) {
	depth, guard := 0, ""
	for _, d := range directive.FindAllSubmatch(text, -1) {
		switch name := string(d[6]); {
		case len(d[1]) > 0:
			all = append(all, inclusion{string(d[3]), depth == 0 && d[2][0] == '"' && string(d[1]) == "include"})
		case string(d[4]) == "endif":
			depth--
		case len(d[4]) > 0:
			depth++
		case string(d[5]) == "ifndef":
			depth, guard = depth+1, name
			continue
		case name == guard && depth == 1: // the file's include guard
			depth = 0
		}
		guard = ""
	}
	return all
}

// maxIncluded is how many files are looked at for what they include.
const maxIncluded = 4096

// included returns the files of a checkout that sources include, directly or not, as far as
// it is clear which those are.
func (s *Sides) included(own *tree, by []source) (files []source) {
	if len(s.changed) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, src := range by {
		seen[src.file] = true
	}
	for queue := by; len(queue) > 0 && len(seen) < maxIncluded; queue = queue[1:] {
		from := queue[0]
		for _, i := range own.includes(from.file) {
			if seen[i.file] {
				continue
			}
			seen[i.file] = true
			if from.how != certain {
				i.how = likely
			}
			files, queue = append(files, i), append(slices.Clip(queue), i)
		}
	}
	return files
}

// includes returns the files that one includes.
func (t *tree) includes(file string) (files []source) {
	if known, ok := t.inclusions[file]; ok {
		return known
	}
	text, err := t.read(file)
	if err != nil {
		return nil
	}
	for _, i := range inclusions(text) {
		switch beside := filepath.Join(filepath.Dir(file), i.name); {
		case t.stat(beside) != nil && i.sure:
			files = append(files, source{beside, certain})
		case t.stat(beside) != nil:
			files = append(files, source{beside, likely})
		default:
			if file := t.byEnd(i.name); file != "" {
				files = append(files, source{file, likely})
			}
		}
	}
	t.inclusions[file] = files
	return files
}

// byEnd returns the one file whose path ends with what a source includes, empty if there are
// none or several.
func (t *tree) byEnd(name string) (file string) {
	parts := strings.Split(strings.TrimLeft(filepath.Clean(name), "./"), "/")
	for _, f := range t.byName[filepath.Base(name)] {
		if commonEnd(strings.Split(f, "/"), parts) < len(parts) {
			continue
		}
		if file != "" {
			return ""
		}
		file = f
	}
	return file
}

// differs reports whether the code of a file differs on the two sides, beyond comments.
func (s *Sides) differs(file string) bool {
	if known, ok := s.differing[file]; ok {
		return known
	}
	mine, err := s.base.read(file)
	if err == nil {
		var theirs []byte
		theirs, err = s.head.read(file)
		s.differing[file] = err == nil && !bytes.Equal(code(mine), code(theirs))
	}
	return s.differing[file]
}

// same reports whether a file is the same on both sides.
func (s *Sides) same(file string) bool {
	mine, err := s.base.read(file)
	if err != nil {
		return false
	}
	theirs, err := s.head.read(file)
	return err == nil && bytes.Equal(mine, theirs)
}

// code returns a source in C or Rust with a space for each run of comments and white space.
func code(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		n := token(text[i:])
		switch {
		case n < 0:
			n = -n
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		default:
			out = append(out, text[i:i+n]...)
		}
		i += n
	}
	return bytes.TrimSpace(out)
}

// token returns the length of what a source begins with: a literal, a byte of code or,
// as a negative number, a comment or a byte of white space.
func token(text []byte) int {
	ends := func(mark string) int {
		if end := bytes.Index(text, []byte(mark)); end >= 0 {
			return end
		}
		return len(text)
	}
	switch c := text[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return -1
	case bytes.HasPrefix(text, []byte("//")):
		return -ends("\n")
	case bytes.HasPrefix(text, []byte("/*")):
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return -(end + 4)
		}
		return -len(text)
	case c == '"' || c == '\'':
		return literal(text)
	}
	return 1
}

// literal returns the length of a literal in quotes, or 1 for a quote that begins none, as
// that of a lifetime in Rust.
func literal(text []byte) int {
	for i := 1; i < len(text) && (text[0] == '"' || text[i] != '\n'); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 1
}
