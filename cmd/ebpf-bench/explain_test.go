package main

import (
	"testing"
)

func TestFormatOfExplain(t *testing.T) {
	for name, want := range map[string]string{"": "text", "a.xyz": "", "report": "", "a.txt": "text", "x/a.HTML": "html", "lcov.info": "lcov", "p.pb.gz": "pprof", "a.json": "json", "a.md": "markdown"} {
		if got := formatOf(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
