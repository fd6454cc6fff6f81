package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm/guest"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func TestMain(m *testing.M) {
	guest.Main()
	if os.Getenv(asMain) != "" {
		main()
	}
	if dir := os.Getenv(asStore); dir != "" {
		if err := fillStore(dir); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	process.RunHelper()
	m.Run()
}

func TestClean(t *testing.T) {
	hostile := "a\x1b[31mred\x1b]0;title\x07\r\nb\tc\u202e"
	if got := ui.Clean(hostile); regexp.MustCompile(`[\x00-\x1f\x7f]|\x{202e}`).MatchString(got) {
		t.Errorf("clean(%q) = %q moves the cursor", hostile, got)
	}
}
