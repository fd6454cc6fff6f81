package inplace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}

// two makes two folders with a file each.
func two(t *testing.T) (from, at string) {
	testenv.Root(t)
	from, at = t.TempDir(), t.TempDir()
	testenv.Write(t, filepath.Join(from, "sub/x"), []byte("base"))
	testenv.Write(t, filepath.Join(at, "sub/x"), []byte("head"))
	return from, at
}

func TestRun(t *testing.T) {
	from, at := two(t)
	var out bytes.Buffer
	c := Command{
		Args: []string{"sh", "-c", `cat x; pwd; echo "$A"; echo new > y; exit 3`}, Env: append(os.Environ(), "A=b\nc"),
		Dir: filepath.Join(at, "sub"), From: from, At: at, Stdout: &out, Stderr: &out,
	}
	err := c.Run(t.Context())
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("%v, want exit status 3", err)
	}
	if want := "base" + at + "/sub\nb\nc\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
	if text, err := os.ReadFile(filepath.Join(from, "sub/y")); err != nil || string(text) != "new\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(at, "sub/x")); err != nil || string(text) != "head" {
		t.Errorf("elsewhere it is %q, %v", text, err)
	}
}

// The folders are back in their places also if something wants to end the helper.
func TestRunExchanged(t *testing.T) {
	from, at := two(t)
	var out bytes.Buffer
	c := Command{
		Args: []string{"sh", "-c", "cat x; echo new > y; kill -INT $PPID; kill -TERM $PPID; kill $$"}, Env: os.Environ(),
		Dir: filepath.Join(at, "sub"), From: from, At: at, Exchange: true, Stdout: &out, Stderr: &out,
	}
	err := c.Run(t.Context())
	if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || ended.ExitCode() != 128+15 || out.String() != "base" {
		t.Errorf("%v, %q", err, &out)
	}
	for name, want := range map[string]string{from + "/sub/x": "base", from + "/sub/y": "new\n", at + "/sub/x": "head"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	c.From = filepath.Join(at, "sub")
	if err := c.Run(t.Context()); err == nil || !strings.Contains(out.String(), "exchange "+c.From+" and "+at) {
		t.Errorf("one inside the other: %v, %q", err, &out)
	}
}

// The folder that was there is back whatever becomes of the helper and of the other one.
func TestRunExchangedAndKilled(t *testing.T) {
	for what, command := range map[string]string{
		"killed": "kill -KILL $PPID", "removed": `rm -r "$OLDPWD"`, "moved": `mv "$OLDPWD" "$OLDPWD.moved"`,
		"replaced": `mv "$OLDPWD" "$OLDPWD.moved"; mkdir "$OLDPWD"`,
	} {
		t.Run(what, func(t *testing.T) {
			from, at := two(t)
			c := Command{Args: []string{"sh", "-c", "cd " + at + "; cd /; " + command}, Env: os.Environ(), Dir: at, From: from, At: at, Exchange: true}
			err := c.Run(t.Context())
			if what != "replaced" && err == nil || errors.Is(err, ErrDisplaced) {
				t.Error(err)
			}
			if text, err := os.ReadFile(filepath.Join(at, "sub/x")); err != nil || string(text) != "head" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	from, at := two(t)
	c := Command{Args: []string{"sh", "-c", "mv " + from + " " + from + ".moved"}, Env: os.Environ(), Dir: at, From: from, At: at, Exchange: true}
	if err := c.Run(t.Context()); !errors.Is(err, ErrDisplaced) {
		t.Errorf("%v, and the folder is elsewhere", err)
	}
}

// Paths and arguments are bytes.
func TestRunAnyBytes(t *testing.T) {
	from, at := two(t)
	at += "/\xff\n"
	testenv.Write(t, filepath.Join(at, "sub/x"), []byte("head"))
	var out bytes.Buffer
	c := Command{Args: []string{"sh", "-c", "cat sub/x; printf '\xfe'"}, Env: os.Environ(), Dir: at, From: from, At: at, Stdout: &out, Stderr: &out}
	if err := c.Run(t.Context()); err != nil || out.String() != "base\xfe" {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestRunWithoutAPlace(t *testing.T) {
	from, at := two(t)
	var out bytes.Buffer
	c := Command{Args: []string{"true"}, Dir: "/", From: filepath.Join(from, "none"), At: at, Stderr: &out}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(out.String(), "none at "+at+": no such file") {
		t.Errorf("%v, %q", err, &out)
	}
}

// A command that is interrupted ends with its children.
func TestRunInterrupted(t *testing.T) {
	from, at := two(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Args: []string{"sh", "-c", "sleep 1000 & echo; wait"}, Env: os.Environ(), Dir: at, From: from, At: at, Stdout: write}
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	write.Close()
	// The pipe ends with the last process that has it.
	if n, err := read.Read(make([]byte, 1)); n != 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
