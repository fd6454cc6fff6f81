package scaffold

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// plain matches strings that YAML reads as such without quotes.
var plain = regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./+-]*$`)

// words match what YAML reads as a bool or null.
var words = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|\.nan|\.inf)$`)

// scalar returns a string in YAML.
func scalar(s string) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// value returns a global's value in the form of a suite.
func value(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// zero returns a zero of size bytes: a number if there is one of that size,
// else hex digits.
func zero(size int) string {
	switch size {
	case 1, 2, 4, 8:
		return "0"
	}
	return strconv.Quote(strings.Repeat("00", size))
}

// sized returns a type with its size in bytes.
func sized(typ string, size int) string {
	bytes := "1 byte"
	if size != 1 {
		bytes = fmt.Sprintf("%d bytes", size)
	}
	if typ == "" {
		return bytes
	}
	return clean(typ) + ", " + bytes
}

// clean returns text of an object in a form that cannot end a comment.
func clean(s string) string { return escape.Printable(s) }

// mostReason is how many bytes of a reason are kept.
const mostReason = 400

// sentence returns a reason as one sentence of a comment.
func sentence(reason string) string {
	reason = clean(strings.Join(strings.Fields(reason), " "))
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "…"
	}
	return strings.TrimSuffix(reason, ".") + "."
}

// wrapped returns the lines of a text, of at most most bytes if words allow it.
func wrapped(text string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(clean(text)) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
