package thread

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Own calls fn on a thread that ends with it, and returns the result of fn. fn
// may move the thread into another namespace, or pin it; no goroutine ever runs
// on it afterwards.
//
// The thread is never the main thread. The runtime cannot end that one and
// would keep it in the state in which fn left it for the life of the process,
// and /proc/self refers to it.
func Own(fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // a thread whose goroutine ends without unlocking it ends, too
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- Own(fn) // on another thread, because this one is occupied meanwhile
			return
		}
		done <- fn()
	}()
	return <-done
}
