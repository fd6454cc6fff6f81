package scaffold

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// plain is a string that YAML takes for nothing else.
var plain = regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./+-]*$`)

// words are what YAML takes for a bool or nothing.
var words = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|\.nan|\.inf)$`)

// scalar is a string as YAML has it.
func scalar(s string) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// value is what a suite takes for a global.
func value(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// zero is a value of that size, in bytes: a number where one has it, else hex
// digits.
func zero(size int) string {
	switch size {
	case 1, 2, 4, 8:
		return "0"
	}
	return strconv.Quote(strings.Repeat("00", size))
}

// sized is a type with its size in bytes.
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

// clean is text of an object that cannot end a comment.
func clean(s string) string { return escape.Printable(s) }

// mostReason is how much of a reason is worth to be kept, in bytes.
const mostReason = 400

// sentence is a reason as one sentence of a comment.
func sentence(reason string) string {
	reason = clean(strings.Join(strings.Fields(reason), " "))
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "…"
	}
	return strings.TrimSuffix(reason, ".") + "."
}

// wrapped are the lines of a text, of at most so many bytes where words allow it.
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
