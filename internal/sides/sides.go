// Package sides finds what BASE and HEAD mean, and pairs their benchmarks.
package sides

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// Side is one side of a comparison: objects, with the suite that they come
// from if they do, or just the numbers of runs.
type Side struct {
	bench.Side
	Objects []suite.Object
	// Program is the only one that is meant, empty for all.
	Program string
	Suite   *suite.Suite
	Runs    []*bench.Run
}

// Help says what the arguments of a command may be.
const Help = `BASE and HEAD are each one of
  head.o                an ELF object; head.o:prog is one program of it
  build/                a folder of objects, or of a suite (ebpf-bench.yml)
  bench/ebpf-bench.yml  a suite with its objects; of two suites, benchmarks of
                        the same name are compared, both with the packets and
                        load of the head
  result.json           the results of ebpf-bench run
  baseline:main         a stored run, by branch or tag; baseline:latest is the
                        newest
  v1.2, HEAD~3          the stored run of a git revision`

// Options are what sides are opened by.
type Options struct {
	// Command is the one whose help says what sides there are.
	Command string
	// Suite is the file of the suite that drives both sides, empty for their own.
	Suite string
	// Filter leaves out the benchmarks whose names do not match, nil none, and Shard
	// those of other parts.
	Filter *regexp.Regexp
	Shard  *bench.Shard
	// Store is the baseline.
	Store baseline.Store
	// Near tells which of several stored runs is the base of a head, by what they are;
	// nil is the newest.
	Near func(head *Side) func(baseline.Meta) bool
}

// Open finds what an argument names.
func (o Options) Open(ctx context.Context, arg string) (*Side, error) {
	return (&opener{Options: o}).open(ctx, arg)
}

// Find is the newest run that a baseline has by a name: latest, a run's ID, a tag or
// a branch. It is a baseline.ErrNotFound if there is none.
func Find(ctx context.Context, store baseline.Store, name string) (baseline.Meta, error) {
	return (&opener{Options: Options{Store: store}}).find(ctx, name)
}

// opener finds the sides that the command line names.
type opener struct {
	Options
	// near tells of which of several runs one is meant; nil is the newest.
	near func(baseline.Meta) bool
}

func (o *opener) help() string {
	return "see ebpf-bench " + cmp.Or(o.Command, "compare") + " --help"
}

// noSideError is about a file that is not a side.
type noSideError struct{ name string }

func (e *noSideError) Error() string {
	return e.name + " is not an ELF object, a result file or a suite (.yml)"
}

func (o *opener) open(ctx context.Context, arg string) (*Side, error) {
	if name, ok := strings.CutPrefix(arg, "baseline:"); ok {
		return o.stored(ctx, arg, name)
	}
	info, err := os.Stat(arg)
	var s *Side
	switch {
	case errors.Is(err, os.ErrNotExist):
		if s, err = programSide(ctx, arg); s == nil && err == nil {
			return o.revision(ctx, arg)
		}
	case err != nil:
	case info.IsDir():
		s, err = folderSide(ctx, arg)
	default:
		s, err = fileSide(ctx, arg)
	}
	if unknown := (*noSideError)(nil); errors.As(err, &unknown) {
		err = bench.WithHint(err, o.help())
	}
	if err != nil {
		return nil, err
	}
	s.Name = arg
	return s, nil
}

// fileSide is a file, whose kind its content tells.
func fileSide(ctx context.Context, name string) (*Side, error) {
	file, err := input.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content := bufio.NewReader(file)
	head, err := content.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		object, err := suite.ReadObject(name)
		return &Side{Objects: []suite.Object{object}}, err
	case bytes.HasPrefix(head, []byte("{")):
		runs, err := bench.DecodeRuns(content)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return &Side{Runs: runs}, nil
	case slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(name)):
		s, err := suite.Load(suite.OS, filepath.ToSlash(name))
		if err != nil {
			return nil, err
		}
		return &Side{Suite: s, Objects: s.Objects}, nil
	}
	return nil, &noSideError{name}
}

// programSide is one program of an object, nil if the argument is none.
func programSide(ctx context.Context, arg string) (*Side, error) {
	i := strings.LastIndexByte(arg, ':')
	if i < 0 {
		return nil, nil
	}
	if info, err := os.Stat(arg[:i]); err != nil || info.IsDir() {
		return nil, nil
	}
	s, err := fileSide(ctx, arg[:i])
	if err != nil {
		return nil, err
	}
	if s.Objects == nil {
		return nil, fmt.Errorf("%s has no programs, just results", arg[:i])
	}
	s.Program = arg[i+1:]
	return s, nil
}

// folderSide is the suite of a folder, or else all of its objects.
func folderSide(ctx context.Context, dir string) (*Side, error) {
	for _, name := range suite.FileNames {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return fileSide(ctx, filepath.Join(dir, name))
		}
	}
	names, err := filepath.Glob(filepath.Join(input.EscapeGlob(dir), "*.o"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the folder %s has no objects (*.o)", dir)
	}
	s := &Side{}
	for _, name := range names {
		object, err := suite.ReadObject(name)
		if err != nil {
			return nil, err
		}
		s.Objects = append(s.Objects, object)
	}
	return s, nil
}
