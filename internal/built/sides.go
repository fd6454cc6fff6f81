package built

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/object"
)

// Sides are two checkouts in which the same command built objects, the head's first.
type Sides struct {
	base, head *tree
	// renewed is what Renew returned for the base, and seesReads whether reading a file of
	// the base leaves a trace.
	renewed   time.Time
	seesReads bool
}

// Open returns the sides whose files are in the folders base and head. Their builds saw
// them there, or that of the base saw it at the head's path. Renewed is what [Renew]
// returned for the base before its build.
func Open(base, head string, renewed time.Time) (*Sides, error) {
	s := &Sides{renewed: renewed}
	var err error
	if s.head, err = openTree(head, head); err != nil {
		return nil, err
	}
	if s.base, err = openTree(base, base, head); err != nil {
		s.head.root.Close()
		return nil, err
	}
	if !renewed.IsZero() {
		s.seesReads, err = seesReads(filepath.Dir(base))
	}
	if err == nil {
		err = errors.Join(s.base.list(""), s.head.list(base))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the folders.
func (s *Sides) Close() {
	s.base.root.Close()
	s.head.root.Close()
}

// Doubt says why the object base, or head, is not known to be built from the sources of its
// own side. It is empty if nothing speaks against that.
func (s *Sides) Doubt(base, head string) (string, error) {
	b, err := os.Stat(base)
	if err != nil {
		return "", err
	}
	h, err := os.Stat(head)
	if err != nil {
		return "", err
	}
	if os.SameFile(b, h) {
		if to, err := filepath.EvalSymlinks(base); err == nil {
			base = to
		}
		return fmt.Sprintf("the base was not built: %s is the same file for both sides", base), nil
	}
	baseData, err := os.ReadFile(base)
	if err != nil {
		return "", err
	}
	headData, err := os.ReadFile(head)
	if err != nil {
		return "", err
	}
	name := s.base.short(base)
	baseLines, headLines := linesOf(baseData), linesOf(headData)
	if committed, err := s.committed(baseData); err != nil || committed {
		return "", err
	}
	// Ask for the access times before reading anything.
	traces := s.traces(baseLines)
	own, other := s.whose(s.base, s.head, baseLines)
	switch {
	case other != "":
		return fmt.Sprintf("the base was not built: %s has %s as the head has it", name, other), nil
	case own == "" && traces.alone != "":
		return fmt.Sprintf("the base was not built: %s is made from %s, which only the head has", name, traces.alone), nil
	case own == "" && traces.unread != "":
		return fmt.Sprintf("the base was not built: %s was not read to build %s", traces.unread, name), nil
	case own == "" && !traces.read && b.ModTime().Before(s.renewed):
		return fmt.Sprintf("the base was not built: %s is older than its build", name), nil
	case own == "" && !traces.read && traces.differs != "" && bytes.Equal(baseData, headData):
		return fmt.Sprintf("the base was not built: %s is the head's, although %s differs", name, traces.differs), nil
	}
	if own, other = s.whose(s.head, s.base, headLines); own == "" && other != "" {
		return fmt.Sprintf("the head was not built: %s has %s as the base has it", name, other), nil
	}
	return "", nil
}

// line is a source line as an object has it.
type line struct {
	number int
	text   string
}

// linesOf returns the source lines of an object, by the files that it names. There are none
// if it cannot be read, or has no debug information.
func linesOf(data []byte) map[string][]line {
	o, err := object.Parse(data)
	if err != nil {
		return nil
	}
	all := map[string][]line{}
	for l := range o.Lines() {
		all[l.FileName()] = append(all[l.FileName()], line{int(l.LineNumber()), l.Line()})
	}
	return all
}

// committed reports whether a file of the base's commit has that content.
func (s *Sides) committed(data []byte) (bool, error) {
	if s.renewed.IsZero() {
		return false, nil
	}
	for _, f := range s.base.files {
		if f.info.Size() != int64(len(data)) || f.info.ModTime().Before(s.renewed) || f.info.ModTime().After(s.renewed.Add(renewed)) {
			continue
		}
		if same, err := s.base.read(f.name); err != nil || bytes.Equal(same, data) {
			return err == nil, err
		}
	}
	return false, nil
}

// traces are what the build left in the source files of an object.
type traces struct {
	// read says that a source was read. Unread names one that was not, perhaps one that
	// seems to be a source, and differs one whose content differs on the two sides. Alone
	// names one that only the head has.
	read                            bool
	unread, perhaps, differs, alone string
}

func (s *Sides) traces(of map[string][]line) (t traces) {
	for _, name := range sorted(of) {
		file, sure := s.base.find(name)
		if file == "" {
			// Headers may be generated, or of the system on one side.
			if others, _ := s.head.find(name); !strings.HasPrefix(filepath.Ext(name), ".h") {
				t.alone = cmp.Or(t.alone, others)
			}
			continue
		}
		info, err := s.base.root.Stat(file)
		if err != nil {
			continue
		}
		switch {
		case !s.seesReads:
		case !isUnread(info):
			t.read = true
		case sure:
			t.unread = cmp.Or(t.unread, file)
		default:
			t.perhaps = cmp.Or(t.perhaps, file)
		}
		mine, err := s.base.read(file)
		if err != nil {
			continue
		}
		if others, err := s.head.read(file); err == nil && !bytes.Equal(mine, others) {
			t.differs = cmp.Or(t.differs, file)
		}
	}
	if !t.read {
		t.unread = cmp.Or(t.unread, t.perhaps)
	}
	return t
}

// whose looks for lines that differ on the two sides, and that an object of the side own
// has. It returns one that the object has as its own side has it, in a form such as "line 3
// of x.c", and one of a file that the object has only as the other side has it.
func (s *Sides) whose(own, other *tree, lines map[string][]line) (asOwn, asOther string) {
	for _, name := range sorted(lines) {
		file, _ := own.find(name)
		if file == "" {
			continue
		}
		mine, err := own.read(file)
		if err != nil {
			continue
		}
		theirs, err := other.read(file)
		if err != nil || bytes.Equal(mine, theirs) {
			continue
		}
		here, there := split(mine), split(theirs)
		var inOwn, inOther string
		for _, l := range lines[name] {
			text, a, b := strings.TrimSpace(l.text), at(here, l.number), at(there, l.number)
			place := fmt.Sprintf("line %d of %s", l.number, file)
			switch {
			case text == "" || a == b:
			case text == a:
				inOwn = cmp.Or(inOwn, place)
			case text == b:
				inOther = cmp.Or(inOther, place)
			}
		}
		asOwn = cmp.Or(asOwn, inOwn)
		if inOwn == "" {
			asOther = cmp.Or(asOther, inOther)
		}
	}
	return asOwn, asOther
}

func split(text []byte) []string { return strings.Split(string(text), "\n") }

// at returns a line by its number, empty if there is none.
func at(lines []string, number int) string {
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[number-1])
}

func sorted(m map[string][]line) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tree is a checkout.
type tree struct {
	root *os.Root
	// seen are the paths at which a build may have seen it.
	seen []string
	// files are its regular files, by paths in it.
	files []file
}

func openTree(dir string, seen ...string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	return &tree{root: root, seen: seen}, err
}

// list lists the files, but for those of another checkout inside this one.
func (t *tree) list(but string) error {
	return walk(t.root.Name(), func(f file) {
		if rel, err := filepath.Rel(t.root.Name(), f.name); err == nil && (but == "" || !strings.HasPrefix(f.name, but+"/")) {
			t.files = append(t.files, file{rel, f.info})
		}
	})
}

// short returns the path of a file in the checkout, or else the path itself.
func (t *tree) short(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(t.root.Name(), abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// find returns the path of a source file that an object names, empty if it is not in the
// checkout. It is sure of it unless it had to go by the end of the path, as that may be
// of a container or mapped.
func (t *tree) find(name string) (file string, sure bool) {
	name = filepath.Clean(name)
	if filepath.IsAbs(name) {
		real, err := filepath.EvalSymlinks(name)
		here := err == nil
		if here {
			name = real
		}
		for _, dir := range t.seen {
			if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
				if info, err := t.root.Stat(rel); err != nil || !info.Mode().IsRegular() {
					return "", false
				}
				return rel, true
			}
		}
		if here {
			return "", false
		}
	}
	most, parts := 0, strings.Split(name, "/")
	for _, f := range t.files {
		switch n := commonEnd(strings.Split(f.name, "/"), parts); {
		case n > most:
			file, most = f.name, n
		case n == most:
			file = "" // several are as like
		}
	}
	return file, false
}

// commonEnd returns how many names two paths have in common at their ends.
func commonEnd(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// maxFile is the largest file that is read, in bytes.
const maxFile = 64 << 20

// read reads a regular file without a trace, as far as this user may.
func (t *tree) read(name string) ([]byte, error) {
	f, err := t.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOATIME, 0)
	if err != nil {
		f, err = t.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// seesReads reports whether the file system of a folder keeps the time of the last access.
func seesReads(dir string) (bool, error) {
	f, err := os.CreateTemp(dir, "read-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.WriteString("x"); err != nil {
		return false, err
	}
	now := time.Now()
	if err := os.Chtimes(f.Name(), now.Add(-unread), now); err != nil {
		return false, err
	}
	if _, err := os.ReadFile(f.Name()); err != nil {
		return false, err
	}
	info, err := os.Stat(f.Name())
	return err == nil && !isUnread(info), err
}
