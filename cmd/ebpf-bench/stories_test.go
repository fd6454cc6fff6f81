package main

import (
	"testing"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
)

// The stories in testdata/script run as a user would type them.
func TestScripts(t *testing.T) { story.Run(t) }
