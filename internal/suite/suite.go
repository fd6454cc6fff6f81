// Package suite reads ebpf-bench.yml: which benchmarks to run, on which
// objects, driven by what. It validates the suite and fills in those defaults
// that do not depend on an object. It reads objects as bytes and knows nothing
// of ELF.
package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Version is the version of the suite file that this package reads.
const Version = 1

// MaxObjectSize bounds an object file, in bytes. Real ones have kilobytes.
const MaxObjectSize = 64 << 20

// Suite is a validated suite file.
type Suite struct {
	// File is the suite file's name, for messages.
	File       string
	Benchmarks []bench.Benchmark
	// Bundled says that the suite is the one that comes with the tool.
	Bundled bool
	// Kernels are the names of the kernels to measure on; none means the
	// running one.
	Kernels []string
	// Thresholds is the suite's file of thresholds, as ReadFile takes it, or
	// "".
	Thresholds string
	// Objects are the objects that the suite names, sorted by path.
	Objects []Object

	fsys fs.FS
	dir  string
	doc  *strictyaml.Doc
	// files are all files that were read, by the name in fsys.
	files map[string][]byte
	// index is the position of each benchmark in the file.
	index map[string]int
}

// Name returns the name of the suite in messages.
func (s *Suite) Name() string {
	if s.Bundled {
		return "the bundled suite"
	}
	return s.File
}

// Object is an ELF object's file.
type Object struct {
	// Path is the path relative to the suite file, as written or globbed.
	Path string
	// File is the file on this machine, or "" if it is in none.
	File string `json:"-"`
	Data []byte
	// SHA256 is the digest of Data in hex.
	SHA256 string
}

// file is the suite file as written.
type file struct {
	Version    int               `yaml:"version"`
	Objects    []string          `yaml:"objects"`
	Budget     bench.Duration    `yaml:"budget"`
	Kernels    kernels           `yaml:"kernels"`
	Thresholds string            `yaml:"thresholds"`
	Benchmarks []bench.Benchmark `yaml:"benchmarks"`
}

// kernels are names as they are written: as a number, 5.10 would be 5.1.
type kernels []string

// UnmarshalYAML takes a name or a list of names.
func (k *kernels) UnmarshalYAML(n *yaml.Node) error {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		for item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: kernels is a list of names, such as [5.10, 6.12]", item.Line)
		}
		name := item.Value
		if item.Tag == "!!null" {
			name = ""
		}
		*k = append(*k, name)
	}
	return nil
}

// Load reads the suite file name from fsys. Paths in it are relative to its
// folder. The error joins every problem of the file, each with its line (a
// *strictyaml.Error).
func Load(fsys fs.FS, name string) (*Suite, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("read suite: %w", err),
			"name a suite file, or leave it out to run the programs that ebpf-bench brings")
	}
	if bytes.HasPrefix(text, []byte("\x7fELF")) {
		return nil, bench.WithHint(fmt.Errorf("%s is an ELF object and no suite", name),
			"write a suite for it by ebpf-bench init "+name)
	}
	var f file
	doc, err := strictyaml.Read(name, text, &f)
	if err != nil {
		return nil, err
	}
	s := &Suite{File: name, Benchmarks: f.Benchmarks, Kernels: f.Kernels, Thresholds: f.Thresholds, fsys: fsys, dir: path.Dir(name), doc: doc, index: map[string]int{}, files: map[string][]byte{name: text}}
	for i, b := range f.Benchmarks {
		s.index[b.Name] = i
	}
	c := newChecker(doc)
	c.suite(&f)
	s.readObjects(c, &f)
	if err := errors.Join(*c.errs...); err != nil {
		return nil, err
	}
	setDefaults(s.Benchmarks, f.Budget)
	return s, nil
}

// ReadFile reads a file that the suite names, such as a pcap.
func (s *Suite) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(s.fsys, s.resolve(name))
	if err == nil {
		s.files[s.resolve(name)] = data
	}
	return data, err
}

// Files returns the suite file and all files that were read for it, by their
// names in its file system: everything that another machine needs to read the
// suite again.
func (s *Suite) Files() map[string][]byte { return maps.Clone(s.files) }

// Names returns the names of the benchmarks.
func (s *Suite) Names() (names []string) {
	for i := range s.Benchmarks {
		names = append(names, s.Benchmarks[i].Name)
	}
	return names
}

// Only returns the suite with only the benchmarks of these names, or with all
// for nil.
func (s *Suite) Only(names []string) *Suite {
	if names == nil {
		return s
	}
	only := *s
	only.Benchmarks = slices.DeleteFunc(slices.Clone(s.Benchmarks), func(b bench.Benchmark) bool { return !slices.Contains(names, b.Name) })
	return &only
}

// WithObjects returns the suite with other objects, such as those of another
// build.
func (s *Suite) WithObjects(objects []Object) *Suite {
	other := *s
	other.Objects = objects
	return &other
}

// OfProgram returns the suite with only the benchmarks of a program.
func (s *Suite) OfProgram(program string) (*Suite, error) {
	other := *s
	other.Benchmarks = slices.DeleteFunc(slices.Clone(s.Benchmarks), func(b bench.Benchmark) bool { return b.Program != program })
	if len(other.Benchmarks) == 0 {
		return nil, fmt.Errorf("%s has no benchmark of program %s", s.File, program)
	}
	return &other, nil
}

// WithProgram returns the suite with another program in all of its benchmarks.
func (s *Suite) WithProgram(program string) *Suite {
	other := *s
	other.Benchmarks = slices.Clone(s.Benchmarks)
	for i := range other.Benchmarks {
		other.Benchmarks[i].Program = program
	}
	return &other
}

// NewObject returns an object with its digest.
func NewObject(path string, data []byte) Object {
	sum := sha256.Sum256(data)
	return Object{Path: path, Data: data, SHA256: hex.EncodeToString(sum[:])}
}

// Filter keeps the benchmarks whose names match re. It fails if none does.
func (s *Suite) Filter(re *regexp.Regexp) error {
	var names []string
	var kept []bench.Benchmark
	for _, b := range s.Benchmarks {
		names = append(names, b.Name)
		if re.MatchString(b.Name) {
			kept = append(kept, b)
		}
	}
	if len(kept) == 0 {
		return bench.WithHint(fmt.Errorf("no benchmark matches %q", re), "there are: "+strings.Join(names, ", "))
	}
	s.Benchmarks = kept
	return nil
}

// ErrorAt returns an error at the line of a benchmark's key, for problems that
// are found only after reading its object.
func (s *Suite) ErrorAt(benchmark, key, format string, args ...any) error {
	at := []any{"benchmarks", s.index[benchmark], key}
	return s.doc.Errorf(at, "benchmark %q: %s", benchmark, fmt.Sprintf(format, args...))
}

// ThresholdsFile returns the path of the thresholds file, or "" if there is
// none.
func (s *Suite) ThresholdsFile() string {
	if s.Thresholds == "" {
		return ""
	}
	return s.resolve(s.Thresholds)
}

func (s *Suite) resolve(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(s.dir, name)
}

// readObjects reads every object that the file lists or a benchmark names.
func (s *Suite) readObjects(c *checker, f *file) {
	seen := map[string]bool{}
	add := func(name string, at ...any) {
		if seen[name] {
			return
		}
		seen[name] = true
		data, err := readObject(s.fsys, s.resolve(name))
		if err != nil {
			c.Under(at...).Errorf("%s", err)
			return
		}
		s.files[s.resolve(name)] = data
		o := NewObject(name, data)
		if root, ok := s.fsys.(osFS); ok {
			o.File = root.path(s.resolve(name))
		}
		s.Objects = append(s.Objects, o)
	}
	for i, pattern := range f.Objects {
		if pattern == "" {
			c.Under("objects", i).Errorf("an object has no name")
			continue
		}
		names, err := s.glob(pattern)
		if err != nil {
			c.Under("objects", i).Errorf("%s", err)
		}
		for _, name := range names {
			add(name, "objects", i)
		}
	}
	for i, b := range f.Benchmarks {
		if b.Object != "" {
			add(b.Object, "benchmarks", i, "object")
		}
		for j, r := range b.Replace {
			if r.Object != "" {
				add(r.Object, "benchmarks", i, "replace", j, "object")
			}
		}
	}
	slices.SortFunc(s.Objects, func(a, b Object) int { return strings.Compare(a.Path, b.Path) })
}

// ErrNoObjects says that a pattern for objects matches none.
var ErrNoObjects = errors.New("no file matches")

// glob expands a pattern to paths relative to the suite file.
func (s *Suite) glob(pattern string) ([]string, error) {
	if !hasMeta(pattern) {
		return []string{pattern}, nil
	}
	names, err := fs.Glob(s.fsys, s.resolve(pattern))
	if err != nil {
		return nil, fmt.Errorf("objects: %q is not a pattern: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("objects: %w %q", ErrNoObjects, pattern)
	}
	if !path.IsAbs(pattern) {
		for i := range names {
			names[i] = relative(s.dir, names[i])
		}
	}
	return names, nil
}

func readObject(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read object: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("read object: %s is a folder", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read object: %s is not a regular file", name)
	case info.Size() > MaxObjectSize:
		return nil, fmt.Errorf("read object: %s has %d MiB, which is over the limit of %d", name, info.Size()>>20, MaxObjectSize>>20)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read object: %w", err)
	}
	return data, nil
}
