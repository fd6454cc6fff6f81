// Package workflows builds programs as public projects do, with small copies of their
// builds. Each must catch a loop that a pull request adds, and find nothing in one that
// touches no program.
package workflows

import (
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// The workflows in testdata/script run the Action.
func TestScripts(t *testing.T) {
	testenv.Long(t, "builds projects with everything that they need")
	testenv.Tools(t, "clang", "llvm-strip", "make", "cmake", "meson", "ninja", "ccache", "cargo", "bpftool")
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		testenv.Missing(t, "the types of this kernel: "+err.Error())
	}
	story.Run(t)
}
