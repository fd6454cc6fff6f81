package thread

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Own calls fn on a thread that ends with it, and returns what fn does: fn may move
// the thread into another namespace, or pin it, and no goroutine ever runs on it
// afterwards.
//
// It is never the main thread. The runtime cannot end that one and would keep it as fn
// left it for as long as the process lives, and /proc/self is about it.
func Own(fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // a thread whose goroutine ends without unlocking it ends too
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- Own(fn) // elsewhere, for this thread is taken meanwhile
			return
		}
		done <- fn()
	}()
	return <-done
}
