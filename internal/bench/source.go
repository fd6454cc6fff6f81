package bench

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Source is where a function is defined, according to the debug information of its object.
type Source struct {
	// File is the path that the compiler was given: relative to the folder that it
	// ran in, or absolute.
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
}

// Place names the line, such as xdp.c:12, or is "" for nil.
func (s *Source) Place() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(s.File), s.Line)
}

// Places names lines, those of a file together, such as xdp.c:12,15 util.h:7.
func Places(lines []Source) string {
	var files []string
	of := map[string][]string{}
	for i := range lines {
		file, line := path.Base(lines[i].File), strconv.Itoa(lines[i].Line)
		if of[file] == nil {
			files = append(files, file)
		}
		if !slices.Contains(of[file], line) {
			of[file] = append(of[file], line)
		}
	}
	for i, file := range files {
		files[i] += ":" + strings.Join(of[file], ",")
	}
	return strings.Join(files, " ")
}

// The limits of the kernel for a path and for the name of a symbol, and of BTF for the
// number of a line.
const (
	maxSourceFile     = 4096
	maxSourceFunction = 512
	maxSourceLine     = 1<<22 - 1
)

// Check refuses what no honest object says about its source: it is printed, and an object
// can come from a stranger's pull request.
func (s *Source) Check() error {
	switch {
	case s == nil:
		return nil
	case s.File == "":
		return errors.New("a source has no file")
	case s.Line < 1 || s.Line > maxSourceLine:
		return fmt.Errorf("a source has the line %d", s.Line)
	case len(s.File) > maxSourceFile || len(s.Function) > maxSourceFunction:
		return errors.New("the names of a source are too long")
	case !printable(s.File) || !printable(s.Function):
		return fmt.Errorf("the names of a source have characters that cannot be printed: %q, %q", s.File, s.Function)
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}
