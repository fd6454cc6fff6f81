package built

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/object"
)

// Sides are two checkouts in which the same command built objects, the head's first.
type Sides struct {
	base, head *tree
	// changed are the files that differed before the builds, or folders with such files.
	changed []string
	// differing caches what differs returned.
	differing map[string]bool
}

// Checkout is one of them.
type Checkout struct {
	// Dir is its folder. Its build saw it there, or that of the base saw it at the head's path.
	Dir string
	// Renewed is what [Renew] or [RenewChanged] returned before its build.
	Renewed time.Time
}

// Open returns the sides. Changed are the paths in them of the files that differed before
// their builds, or of folders with such files.
func Open(base, head Checkout, changed []string) (*Sides, error) {
	s := &Sides{changed: changed, differing: map[string]bool{}}
	var err error
	if s.head, err = openTree(head, head.Dir); err != nil {
		return nil, err
	}
	if s.base, err = openTree(base, base.Dir, head.Dir); err != nil {
		s.head.root.Close()
		return nil, err
	}
	if err = errors.Join(s.base.list(""), s.head.list(base.Dir)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Differing returns those of the paths in two checkouts whose files differ, or that are folders.
func Differing(base, head string, paths []string) ([]string, error) {
	s, err := Open(Checkout{Dir: base}, Checkout{Dir: head}, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return slices.DeleteFunc(slices.Clone(paths), s.same), nil
}

// Close closes the folders.
func (s *Sides) Close() {
	s.base.root.Close()
	s.head.root.Close()
}

// built is an object of a side.
type built struct {
	own, other *tree
	// name is its path for messages.
	name string
	info fs.FileInfo
	data []byte
	// lines are those that it names, by the files.
	lines map[string][]line
}

func (s *Sides) read(own, other *tree, name string) (*built, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &built{own, other, own.short(name), info, data, linesOf(data)}, nil
}

// Doubt says why the object base, or head, is not known to be built from the sources of its
// own side. It is empty if nothing speaks against that.
func (s *Sides) Doubt(base, head string) (string, error) {
	b, err := s.read(s.base, s.head, base)
	if err != nil {
		return "", err
	}
	h, err := s.read(s.head, s.base, head)
	if err != nil {
		return "", err
	}
	if os.SameFile(b.info, h.info) {
		if to, err := filepath.EvalSymlinks(base); err == nil {
			base = to
		}
		return fmt.Sprintf("the base was not built: %s is the same file for both sides", base), nil
	}
	identical := bytes.Equal(b.data, h.data)
	committed, err := s.base.committed(b.data)
	if err != nil {
		return "", err
	}
	if !committed {
		if why := s.doubtBase(b, identical); why != "" {
			return "the base was not built: " + why, nil
		}
	}
	// What the change itself brings is not built.
	if committed, err = s.head.committed(h.data); err != nil {
		return "", err
	}
	if why := s.doubtHead(h, identical, committed); why != "" {
		return "the head was not built: " + why, nil
	}
	return "", nil
}

func (s *Sides) doubtBase(b *built, identical bool) string {
	own, other := s.whose(b)
	t := s.traces(b, identical, own)
	switch {
	case other != "":
		return fmt.Sprintf("%s has %s as the head has it", b.name, other)
	case t.stale != "":
		return fmt.Sprintf("%s was not read to build %s", t.stale, b.name)
	case len(own) > 0:
		return ""
	case t.taken != "":
		return fmt.Sprintf("its build made %s, a source of %s, what it is in the head", t.taken, b.name)
	case t.alone != "":
		return fmt.Sprintf("%s is made from %s, which only the head has", b.name, t.alone)
	case t.unread != "":
		return fmt.Sprintf("%s was not read to build %s", t.unread, b.name)
	case (!t.read || len(b.lines) == 0) && b.info.ModTime().Before(b.own.renewed):
		return b.name + " is older than its build"
	case !t.read && t.differs != "" && identical:
		return fmt.Sprintf("%s is the head's, although %s differs", b.name, t.differs)
	}
	return ""
}

func (s *Sides) doubtHead(h *built, identical, committed bool) string {
	own, other := s.whose(h)
	t := s.traces(h, identical, own)
	switch {
	case other != "":
		return fmt.Sprintf("%s has %s as the base has it", h.name, other)
	case t.stale != "" && (identical || !committed):
		return fmt.Sprintf("%s was not read to build %s", t.stale, h.name)
	case len(own) > 0 || !identical:
		return ""
	case t.perhaps != "":
		return fmt.Sprintf("%s was not read to build %s", t.perhaps, h.name)
	case !t.read && t.differs != "":
		return fmt.Sprintf("%s is the base's, although %s differs", h.name, t.differs)
	}
	return ""
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

// traces are what a build left in the source files of an object.
type traces struct {
	// read says that a source was read. Unread names one that was not, and stale one that was
	// not, whose code differs on the two sides, and that no line of the object tells. Perhaps
	// names one of which that is likely, and differs any whose code differs.
	read                            bool
	unread, stale, perhaps, differs string
	// Alone names a source that only the other side has, and taken one that differed before
	// the builds, and does no longer.
	alone, taken string
}

// traces looks at the sources of an object. Own are those that it has a line of as only its
// own side has it.
func (s *Sides) traces(b *built, identical bool, own map[string]bool) (t traces) {
	// look looks at a file that is a source, or if it is not sure may be one.
	look := func(file string, sure bool) {
		info, differs := b.own.stat(file), s.differs(file)
		if differs {
			t.differs = cmp.Or(t.differs, file)
		}
		switch {
		case info == nil || !b.own.seesReads || !isUnread(info, b.own.renewed):
		case sure:
			t.unread = cmp.Or(t.unread, file)
			if differs && !own[file] {
				t.stale = cmp.Or(t.stale, file)
			}
		case differs:
			t.perhaps = cmp.Or(t.perhaps, file)
		}
	}
	sources, unclear := s.named(b, &t)
	for _, src := range sources {
		t.read = t.read || b.own.seesReads && !isUnread(b.own.stat(src.file), b.own.renewed)
		if src.how != copied || identical {
			look(src.file, src.how == certain)
		}
	}
	if identical {
		// The change can be in what the object does not name.
		for _, src := range s.included(b.own, sources) {
			// The head's build reads nothing where what it made before is still right.
			if s.differs(src.file) && (src.how == certain || b.own == s.base) {
				look(src.file, src.how == certain)
			}
		}
		if len(sources) == 0 && unclear {
			t.read = b.own.readsSources()
			for _, file := range s.sources() {
				look(file, false)
			}
		}
	}
	if t.read {
		t.perhaps = ""
	}
	t.unread = cmp.Or(t.unread, t.perhaps)
	return t
}

// named returns the sources that an object names, or those with its name if it names none. It
// is unclear which they are if some could not be placed, or none are known.
func (s *Sides) named(b *built, t *traces) (sources []source, unclear bool) {
	for _, name := range slices.Sorted(maps.Keys(b.lines)) {
		file, how := s.find(b.own, b.other, name)
		switch how {
		case absent:
			// Headers may be generated, or of the system on one side.
			if others, how := s.find(b.other, b.own, name); how == certain && !isHeader(name) {
				t.alone = cmp.Or(t.alone, others)
			}
			continue
		case ambiguous:
			unclear = true
			continue
		}
		sources = append(sources, source{file, how})
		if slices.Contains(s.changed, file) && !isHeader(file) && s.same(file) {
			t.taken = cmp.Or(t.taken, file)
		}
	}
	if len(b.lines) > 0 {
		return sources, unclear
	}
	for _, file := range b.own.alike(b.name) {
		sources = append(sources, source{file, likely})
	}
	return sources, true
}

// whose looks for lines that differ on the two sides, and that an object has. It returns the
// files of which the object has one as its own side has it, and one of another file that it
// has as the other side has it, in a form such as "line 3 of x.c".
func (s *Sides) whose(b *built) (own map[string]bool, other string) {
	own = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(b.lines)) {
		file, how := s.find(b.own, b.other, name)
		if how == absent || how == ambiguous {
			continue
		}
		mine, err := b.own.read(file)
		if err != nil {
			continue
		}
		theirs, err := b.other.read(file)
		if err != nil || bytes.Equal(mine, theirs) {
			continue
		}
		here, there := split(mine), split(theirs)
		inOther := ""
		for _, l := range b.lines[name] {
			text, a, b := strings.TrimSpace(l.text), at(here, l.number), at(there, l.number)
			place := fmt.Sprintf("line %d of %s", l.number, file)
			switch {
			case text == "" || a == b:
			case text == a:
				own[file] = true
			case text == b:
				inOther = cmp.Or(inOther, place)
			}
		}
		if !own[file] && s.differs(file) {
			other = cmp.Or(other, inOther)
		}
	}
	return own, other
}

func split(text []byte) []string { return strings.Split(string(text), "\n") }

// at returns a line by its number, empty if there is none.
func at(lines []string, number int) string {
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[number-1])
}
