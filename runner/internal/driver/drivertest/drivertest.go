// Package drivertest gives tests a thread to measure on.
package drivertest

import (
	"runtime"
	"testing"

	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// OnThread calls fn on a measuring thread.
func OnThread(t *testing.T, fn func(env *driver.Environment)) {
	t.Helper()
	done := make(chan error)
	go func() {
		// If fn fails the test, its goroutine ends without a result.
		defer close(done)
		runtime.LockOSThread()
		env, err := driver.NewEnvironment(false)
		if err == nil {
			defer env.Close()
			fn(env)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
