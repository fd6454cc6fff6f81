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

// Side is one side of a comparison: objects, possibly with the suite that they
// come from, or just the numbers of runs.
type Side struct {
	bench.Side
	Objects []suite.Object
	// Program is the only one to compare, or "" for all.
	Program string
	Suite   *suite.Suite
	Runs    []*bench.Run
}

// Help lists the arguments that a command accepts.
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

// Options control how to open sides.
type Options struct {
	// Command is the command whose help lists the possible sides.
	Command string
	// Suite is the file of the suite that drives both sides, or "" for their
	// own.
	Suite string
	// Filter, unless nil, leaves out benchmarks whose names do not match. Shard
	// leaves out those of other parts.
	Filter *regexp.Regexp
	Shard  *bench.Shard
	// Store is the baseline.
	Store baseline.Store
	// Near returns a predicate that selects the base of a head among several
	// stored runs; nil selects the newest.
	Near func(head *Side) func(baseline.Meta) bool
}

// Open finds what an argument names.
func (o Options) Open(ctx context.Context, arg string) (*Side, error) {
	return (&opener{Options: o}).open(ctx, arg)
}

// Find returns the newest run that a baseline has by a name: latest, a run's
// ID, a tag or a branch. The error is baseline.ErrNotFound if there is none.
func Find(ctx context.Context, store baseline.Store, name string) (baseline.Meta, error) {
	return (&opener{Options: Options{Store: store}}).find(ctx, name)
}

// opener finds the sides that the command line names.
type opener struct {
	Options
	// near selects one of several runs; nil selects the newest.
	near func(baseline.Meta) bool
	// headObjects says that the head has objects.
	headObjects bool
}

func (o *opener) help() string {
	return "see ebpf-bench " + cmp.Or(o.Command, "compare") + " --help"
}

// noSideError reports a file that is not a side.
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

// fileSide opens a file, whose content determines its kind.
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

// programSide opens one program of an object. It returns nil if the argument is
// none.
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

// folderSide opens the suite of a folder, or else all of its objects.
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
