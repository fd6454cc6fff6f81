// Package kernels has the stories of the command line that boot virtual machines. go test
// gives those of another package another ten minutes.
package kernels

import (
	"testing"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
)

// The stories in testdata/script run as a user would type them.
func TestScripts(t *testing.T) { story.Run(t) }
