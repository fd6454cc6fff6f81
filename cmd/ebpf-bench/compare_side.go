package main

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
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// side is one side of a comparison: objects, with the suite that they come
// from if they do, or just the numbers of runs.
type side struct {
	bench.Side
	objects []suite.Object
	// program is the only one that is meant, empty for all.
	program string
	suite   *suite.Suite
	runs    []*bench.Run
}

const sides = `BASE and HEAD are each one of
  head.o                an ELF object; head.o:prog is just one program of it
  build/                a folder of objects, or of a suite (ebpf-bench.yml)
  bench/ebpf-bench.yml  a suite with the objects that it names; of two suites
                        the benchmarks of the same name are compared, by the
                        head's workload, each with its own side's program
  result.json           the results of ebpf-bench run
  baseline:main         what the baseline has of a branch or tag;
                        baseline:latest is its newest run
  v1.2, HEAD~3          a git revision whose objects the baseline has`

// sideOpener finds the sides that the command line names.
type sideOpener struct {
	store baseline.Store
	// near tells of which of several runs one is meant; nil is the newest.
	near func(baseline.Meta) bool
	// command is the one whose help says what sides there are.
	command string
}

func (o *sideOpener) help() string {
	return "see ebpf-bench " + cmp.Or(o.command, "compare") + " --help"
}

// noSideError is about a file that is no side.
type noSideError struct{ name string }

func (e *noSideError) Error() string {
	return e.name + " is no ELF object, no result of ebpf-bench and no suite (.yml)"
}

func (o *sideOpener) open(ctx context.Context, arg string) (*side, error) {
	if name, ok := strings.CutPrefix(arg, "baseline:"); ok {
		return o.stored(ctx, arg, name)
	}
	info, err := os.Stat(arg)
	var s *side
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
func fileSide(ctx context.Context, name string) (*side, error) {
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
		object, err := readObject(name)
		return &side{objects: []suite.Object{object}}, err
	case bytes.HasPrefix(head, []byte("{")):
		runs, err := bench.DecodeAll(content)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return &side{runs: runs}, nil
	case slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(name)):
		s, err := suite.Load(suite.OS, filepath.ToSlash(name))
		if err != nil {
			return nil, err
		}
		return &side{suite: s, objects: s.Objects}, nil
	}
	return nil, &noSideError{name}
}

// programSide is one program of an object, nil if the argument is none.
func programSide(ctx context.Context, arg string) (*side, error) {
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
	if s.objects == nil {
		return nil, fmt.Errorf("%s has no programs, just results", arg[:i])
	}
	s.program = arg[i+1:]
	return s, nil
}

// folderSide is the suite of a folder, or else all of its objects.
func folderSide(ctx context.Context, dir string) (*side, error) {
	for _, name := range suite.FileNames {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return fileSide(ctx, filepath.Join(dir, name))
		}
	}
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.o"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the folder %s has no objects (*.o)", dir)
	}
	s := &side{}
	for _, name := range names {
		object, err := readObject(name)
		if err != nil {
			return nil, err
		}
		s.objects = append(s.objects, object)
	}
	return s, nil
}

// escapeGlob makes a pattern of a path that stands for just that path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func readObject(name string) (suite.Object, error) {
	info, err := os.Stat(name)
	if err != nil {
		return suite.Object{}, fmt.Errorf("read object: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > suite.MaxObjectSize {
		return suite.Object{}, fmt.Errorf("read object: %s is no regular file of at most %d MiB", name, suite.MaxObjectSize>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return suite.Object{}, fmt.Errorf("read object: %w", err)
	}
	return suite.NewObject(filepath.Base(name), data), nil
}
