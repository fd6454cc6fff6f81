package hook

import (
	"errors"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// A misspelled hook is missing on other kernels, too; one that differs by its
// number may exist there.
func TestHooksThatAreNotThere(t *testing.T) {
	have := []string{"syscalls:sys_enter_openat", "syscalls:sys_enter_close"}
	for name, here := range map[string]bool{
		"syscalls:sys_enter_opnat":   false,
		"syscalls:sys_enter_openat2": true,
		"syscalls:sys_enter_mount":   true,
	} {
		err := noHook("tracepoint", name, have)
		var no *host.CannotError
		if errors.As(err, &no) != here || strings.HasPrefix(err.Error(), Misspelled) == here {
			t.Errorf("%s: %v", name, err)
		}
	}
}
