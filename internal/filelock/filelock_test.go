package filelock

import (
	"context"
	"errors"
	"os"
	"testing"
)

// A folder is locked until its holder closes it, and whoever waits for it can be stopped.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	open := func() *os.File {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	holder, waiter := open(), open()
	if held, err := Wait(t.Context(), holder); !held || err != nil {
		t.Fatalf("a free lock: %v, %v", held, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if held, err := Wait(stopped, waiter); held || !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held: %v, %v", held, err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err := Wait(t.Context(), waiter); !held || err != nil {
		t.Errorf("a lock that was given back: %v, %v", held, err)
	}
}

// Where there are no locks, nobody waits.
func TestWaitWithoutLocks(t *testing.T) {
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if held, err := Wait(t.Context(), f); held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
}
