package scaffold

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// Objects are objects to write a suite for.
type Objects struct {
	// dir is the folder of the suite, to which paths of objects are relative.
	dir     string
	objects []suite.Object
	// found are the paths of the same objects for the system.
	found []string
	// seen maps the contents of objects to their paths.
	seen map[string]string
	// Notes say what was left out.
	Notes []string
}

// mostObjects bounds how many objects to take without their being named.
const mostObjects = 1000

// Find reads the objects that args name, and those below folders that args
// name. A file in args must be an object; below a folder, it skips other files.
func Find(ctx context.Context, args []string, dir string) (*Objects, error) {
	all := &Objects{dir: dir, seen: map[string]string{}}
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, exit.Usage(err)
		case info.IsDir():
			err = all.walk(ctx, arg)
		case !info.Mode().IsRegular():
			err = exit.Usage(fmt.Errorf("%s is not a regular file, and no folder", arg))
		default:
			err = all.named(arg)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all.objects) == 0 {
		return all, exit.Usage(bench.WithHint(fmt.Errorf("no eBPF object in %s", strings.Join(args, ", ")),
			"build them first, or name them: an object is what clang -target bpf -g -O2 -c writes, or bpf-linker for Rust"))
	}
	return all, nil
}

func (a *Objects) named(name string) error {
	switch err := checkBPF(name); {
	case errors.Is(err, errByteOrder):
		return exit.Usage(bench.WithHint(fmt.Errorf("%s is left out: %w", name, err), "build it for this machine: clang -target bpf"))
	case err != nil:
		return exit.Usage(fmt.Errorf("%s: %w", name, err))
	}
	problem, err := a.add(name)
	if err == nil && problem != nil {
		err = exit.Usage(problem)
	}
	return err
}

// walk takes the objects below a folder.
func (a *Objects) walk(ctx context.Context, root string) error {
	return filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == root:
			return err
		case err != nil:
			a.note("%s is left out: %v", name, err)
			return nil
		case e.IsDir() && name != root && Hidden(filepath.ToSlash(name)):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		switch err := checkBPF(name); {
		case errors.Is(err, errByteOrder):
			a.note("%s is left out: %v", name, err)
			return nil
		case err != nil:
			return nil // it is something else
		case len(a.objects) == mostObjects:
			return exit.Usage(fmt.Errorf("there are more than %d objects below %s: name some", mostObjects, root))
		}
		problem, err := a.add(name)
		if problem != nil {
			a.note("%s is left out: %v", name, problem)
		}
		return err
	})
}

func (a *Objects) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// add adds an object, unless there is a problem with it.
func (a *Objects) add(name string) (problem, err error) {
	if !utf8.ValidString(name) {
		return errors.New("a suite cannot name it: its name is not UTF-8"), nil
	}
	o, err := suite.ReadObject(name)
	if err != nil {
		return nil, exit.Usage(err)
	}
	if other, ok := a.seen[o.SHA256]; ok {
		if other != name {
			a.note("%s is left out: it is the same as %s", name, other)
		}
		return nil, nil
	}
	if _, err := object.Parse(o.Data); err != nil {
		return fmt.Errorf("read object %s: %w", name, err), nil
	}
	if o.Path, err = pathFrom(a.dir, name); err != nil {
		return nil, exit.Usage(err)
	}
	a.seen[o.SHA256] = name
	a.objects, a.found = append(a.objects, o), append(a.found, name)
	return nil, nil
}

// pathFrom returns a path for a suite in a folder: relative, unless it was
// given as absolute and leads elsewhere.
func pathFrom(dir, name string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if filepath.IsAbs(name) && strings.HasPrefix(rel, "..") {
		rel = to
	}
	return filepath.ToSlash(rel), err
}

var (
	errNoBPF     = errors.New("it is not an eBPF object")
	errByteOrder = errors.New("its byte order is not that of this machine")
)

// checkBPF reads just enough of a file to tell whether it is an eBPF object for
// this machine. Compilers before LLVM 3.9 gave the machine no number.
func checkBPF(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, 20)
	if _, err := file.ReadAt(head, 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return errNoBPF
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	typ, machine := elf.Type(order.Uint16(head[16:])), elf.Machine(order.Uint16(head[18:]))
	native := binary.NativeEndian.Uint16(head[16:]) == order.Uint16(head[16:])
	switch {
	case typ != elf.ET_REL || machine != elf.EM_BPF && machine != elf.EM_NONE:
		return errNoBPF
	case !native:
		return errByteOrder
	}
	return nil
}

// Suite returns a suite with a benchmark for each program of the objects.
func (a *Objects) Suite() (*Suite, error) {
	entries, err := runner.Entries(a.objects)
	if err != nil {
		return nil, err
	}
	s := &Suite{Objects: a.patterns()}
	for _, e := range entries {
		if t := e.Target; t != nil {
			// It is driven through the program whose function it replaces.
			e.Driver, e.Why, e.Packets = t.Driver, t.Why, t.Packets
		}
		s.Programs = append(s.Programs, Program{Entry: e})
	}
	return s, nil
}

// patterns returns the objects as a suite names them: one pattern for several
// objects in a folder, if it matches only these.
func (a *Objects) patterns() []string {
	byDir := map[string][]string{}
	var dirs []string
	for _, o := range a.objects {
		dir := path.Dir(o.Path)
		if byDir[dir] == nil {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], o.Path)
	}
	var all []string
	for _, dir := range dirs {
		all = append(all, a.folder(dir, byDir[dir])...)
	}
	return all
}

func (a *Objects) folder(dir string, names []string) []string {
	slices.Sort(names)
	if len(names) > 1 {
		for _, end := range []string{"*.o", "*_bpfel.o", "*-el.elf", "*.bpf.o", "*.elf"} {
			pattern := path.Join(input.EscapeGlob(dir), end)
			if slices.Equal(a.glob(pattern), names) {
				return []string{pattern}
			}
		}
	}
	for i := range names {
		names[i] = input.EscapeGlob(names[i])
	}
	return names
}

// glob returns what a pattern of a suite matches.
func (a *Objects) glob(pattern string) []string {
	at := pattern
	if !path.IsAbs(pattern) {
		at = path.Join(input.EscapeGlob(filepath.ToSlash(a.dir)), pattern)
	}
	found, err := filepath.Glob(filepath.FromSlash(at))
	if err != nil {
		return nil
	}
	for i := range found {
		if found[i], err = pathFrom(a.dir, found[i]); err != nil {
			return nil
		}
	}
	slices.Sort(found)
	return found
}
