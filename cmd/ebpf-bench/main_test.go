package main

import (
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
	"github.com/org/ebpf-bench-action/internal/vm/guest"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func TestMain(m *testing.M) {
	guest.Main()
	if os.Getenv(story.AsMain) != "" {
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
