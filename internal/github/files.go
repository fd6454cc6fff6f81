package github

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Files are the files through which a step talks to the runner. The zero Files is not on
// GitHub, and writes nothing.
type Files struct {
	// Output and Summary are paths, each empty if there is no such file.
	Output, Summary string
	// delimiter returns an unpredictable end marker for a value.
	delimiter func() string
}

// FilesFromEnv returns the files of this step.
func FilesFromEnv(getenv func(string) string) *Files {
	return &Files{
		Output:  getenv("GITHUB_OUTPUT"),
		Summary: getenv("GITHUB_STEP_SUMMARY"),
	}
}

// SetOutput sets an output of the step, to any text.
func (f *Files) SetOutput(name, value string) error {
	newDelimiter := f.delimiter
	if newDelimiter == nil {
		newDelimiter = func() string { return "ebpf-bench-" + rand.Text() }
	}
	text, err := escape.Output(name, value, newDelimiter())
	if err != nil {
		return fmt.Errorf("set output: %w", err)
	}
	if f.Output == "" {
		return nil
	}
	if err := appendTo(f.Output, text); err != nil {
		return fmt.Errorf("set output %s: %w", name, err)
	}
	return nil
}

// AddSummary adds Markdown to the summary of the step: as much of it as GitHub accepts,
// and then the line more, which says where the whole text is.
func (f *Files) AddSummary(markdown, more string) error {
	if f.Summary == "" {
		return nil
	}
	used := int64(0)
	if st, err := os.Stat(f.Summary); err == nil {
		used = st.Size()
	}
	// Two newlines may separate it from the earlier text.
	room := MaxStepSummary - used - 2
	if room < int64(len(more)) {
		return nil
	}
	if !strings.HasSuffix(markdown, "\n") {
		markdown += "\n"
	}
	if err := appendTo(f.Summary, Cut(markdown, int(room), more)); err != nil {
		return fmt.Errorf("write the step's summary: %w", err)
	}
	return nil
}

// appendTo adds text to a file in a single write, at the start of a line, whatever an
// earlier writer left there.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if size := st.Size(); st.Mode().IsRegular() && size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last[0] != '\n' {
			text = "\n" + text
		}
	}
	if _, err := io.WriteString(f, text); err != nil {
		return err
	}
	return f.Close()
}
