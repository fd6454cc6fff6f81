package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Files and pipes are read. What is neither is refused before it is opened, and nobody
// waits for a pipe that nobody writes to.
func TestWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	testenv.Write(t, at("file"), []byte("text"))
	if err := errors.Join(os.Symlink("file", at("link")), syscall.Mkfifo(at("pipe"), 0o600), syscall.Mkfifo(at("written"), 0o600)); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(at("written"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := writer.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	const regular, either = " is not a regular file", " is not a regular file, and no pipe"
	for _, c := range []struct {
		name          string
		read, regular string // errors
	}{
		{at("file"), "", ""},
		{at("link"), "", at("link") + regular},
		{at("written"), "", at("written") + regular},
		{at("pipe"), "it is a pipe, and nobody writes to it", at("pipe") + regular},
		{dir, dir + " is a folder, not a file", dir + regular},
		{"/dev/zero", "/dev/zero" + either, "/dev/zero" + regular},
	} {
		in, err := Open(t.Context(), c.name)
		if err == nil {
			text := make([]byte, 4)
			if _, err = io.ReadFull(in, text); err == nil && (string(text) != "text" || in.Size() != 4) {
				t.Errorf("%s: read %q, size %d", c.name, text, in.Size())
			}
			in.Close()
		}
		want(t, c.name, err, c.read)
		file, err := Regular(c.name)
		if err == nil {
			file.Close()
		}
		want(t, c.name, err, c.regular)
	}
}

func want(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
		t.Errorf("%s: got %v, want %q", name, err, want)
	}
}

// Whoever waits for a writer can be interrupted.
func TestReadingIsInterrupted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	in, err := Open(ctx, pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
