package process

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStderrTailKeepsTheEnd(t *testing.T) {
	var tail StderrTail
	for i := range 10_000 {
		fmt.Fprintln(&tail, "line", i)
	}
	if got, want := tail.String(), "line 9995; line 9996; line 9997; line 9998; line 9999"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(tail.buf) > stderrBytes {
		t.Errorf("keeps %d bytes", len(tail.buf))
	}
	fmt.Fprint(&tail, strings.Repeat("\xff\xfe", 10_000))
	if got := tail.String(); len(got) > stderrText || !utf8.ValidString(got) {
		t.Errorf("of bytes that are not text it says %d bytes: %q", len(got), got)
	}
}
