package bench

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Any names and lines in an object give a document that can be read again.
func TestClippedIsRead(t *testing.T) {
	for _, s := range []string{
		"", "short", strings.Repeat("a", 70_000), strings.Repeat("ä", 70_000), "x" + strings.Repeat("€", 70_000),
		strings.Repeat("\xff", 70_000), strings.Repeat("\xffa", 511), strings.Repeat("𝄞", 128), strings.Repeat("\x00", 5000),
	} {
		text := ClipText(s)
		if !utf8.ValidString(text) || len(text) > clippedText || len(s) <= clippedText && utf8.ValidString(s) && text != s {
			t.Errorf("%.10q of %d bytes became %.10q of %d", s, len(s), text, len(text))
		}
		if len(s) > clippedText && utf8.ValidString(s) && !strings.HasPrefix(s, strings.TrimSuffix(text, "…")) {
			t.Errorf("%.10q became %.10q", s, text)
		}
		code := &Executed{Code: []Code{{Text: "r0 = " + text}}}
		e := &Explanation{Programs: []Explained{{
			Benchmark: "a", Head: &ExplainedSide{Object: "a.o", Program: ClipName(s)},
			Lines: []Line{{Program: ClipName(s), Function: ClipName(s), Text: text, BaseText: text, BaseFile: ClipFile(s), Head: code}},
		}}}
		var doc bytes.Buffer
		if err := EncodeExplanations(&doc, e); err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeExplanation(&doc); err != nil {
			t.Errorf("%.10q of %d bytes: %v", s, len(s), err)
		}
	}
}
