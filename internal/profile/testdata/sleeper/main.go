//go:build linux

// Sleeper sleeps for known times on known lines, and prints the seconds that each took.
package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

var took = map[string]time.Duration{}

func main() {
	for range 20 {
		measure("long", long)
		for range 4 {
			measure("short", short)
			measure("shorter", shorter)
		}
	}
	for name, d := range took {
		fmt.Println(name, d.Seconds())
	}
}

func measure(name string, f func()) {
	begin := time.Now()
	f()
	took[name] += time.Since(begin)
}

// Each sleeps on a line of its own.

//go:noinline
func long() { sleep(30 * time.Millisecond) }

//go:noinline
func short() { sleep(3 * time.Millisecond) }

//go:noinline
func shorter() { sleep(1 * time.Millisecond) }

func sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal may end it early
}
