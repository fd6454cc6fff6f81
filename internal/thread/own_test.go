package thread_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/thread"
)

func TestOwnReturnsTheErrorAndIsNeverTheMainThread(t *testing.T) {
	want := errors.New("told you so")
	for range 10_000 {
		onMain := false
		err := thread.Own(func() error {
			onMain = unix.Gettid() == os.Getpid()
			return want
		})
		if onMain || !errors.Is(err, want) {
			t.Fatalf("on the main thread: %t; error %v", onMain, err)
		}
	}
}
