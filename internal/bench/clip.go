package bench

import (
	"strings"
	"unicode/utf8"
)

// Debug information has names and lines of any length, which a document would have
// once for each instruction. So they are clipped where a document is made, and what
// was made can be read: the limits of reading are none below these.

// clippedText is how many bytes of a line of source, or of an instruction, are kept:
// more than anybody reads.
const clippedText = 1024

// ClipText is a line of source or an instruction as a document has it.
func ClipText(s string) string { return clip(s, clippedText) }

// ClipName is the name of a program or a function as a document has it.
func ClipName(s string) string { return clip(s, maxSourceFunction) }

// ClipFile is the name of a file as a document has it.
func ClipFile(s string) string { return clip(s, maxFileName) }

// clip is the beginning of a text that has so many bytes. What is no UTF-8 would
// become longer in JSON.
func clip(s string, most int) string {
	const more = "…"
	if s = strings.ToValidUTF8(s, string(utf8.RuneError)); len(s) <= most {
		return s
	}
	end := most - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}
