package debian

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// stanza is a paragraph of fields in the format of Debian's control files (deb822):
// package indexes, release files and apt's own .sources. The names of fields are in lower
// case.
type stanza map[string]string

// maxStanza exceeds the longest stanza, which is that of a release file and lists each
// file of a suite.
const maxStanza = untrusted.MaxText

// stanzas returns the stanzas of r, each as text.
func stanzas(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxStanza)
		lines.Split(splitStanzas)
		for lines.Scan() {
			if text := lines.Bytes(); len(bytes.TrimSpace(text)) > 0 && !yield(text, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// splitStanzas is a bufio.SplitFunc. A stanza ends at a line that is empty or only spaces.
func splitStanzas(data []byte, atEOF bool) (advance int, token []byte, err error) {
	for start := 0; ; {
		n := bytes.IndexByte(data[start:], '\n')
		switch {
		case n >= 0 && len(bytes.Trim(data[start:start+n], " \t\r")) == 0:
			return start + n + 1, data[:start], nil
		case n >= 0:
			start += n + 1
		case atEOF && len(data) > 0:
			return len(data), data, nil
		default:
			return 0, nil, nil
		}
	}
}

// parseStanza reads the fields of a stanza. It skips comment lines, and joins the lines of
// a field by newlines.
func parseStanza(text []byte) (stanza, error) {
	fields := stanza{}
	last := ""
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if last == "" {
				return nil, fmt.Errorf("line %q continues no field", line)
			}
			fields[last] += "\n" + string(bytes.TrimLeft(line, " \t"))
		default:
			name, value, ok := bytes.Cut(line, []byte(":"))
			if last = strings.ToLower(string(name)); !ok || last == "" {
				return nil, fmt.Errorf("line %q has no field", line)
			}
			if _, ok := fields[last]; ok {
				return nil, fmt.Errorf("field %s comes twice", name)
			}
			fields[last] = string(bytes.TrimSpace(value))
		}
	}
	return fields, nil
}

// words returns the words of a field.
func (s stanza) words(field string) []string { return strings.Fields(s[field]) }
