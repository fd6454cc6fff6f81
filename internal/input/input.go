// Package input opens the files that a command reads: regular ones, and pipes where these
// are allowed, but no devices, and nothing that blocks.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// File is a file or pipe that a command reads, until it is interrupted.
type File struct {
	ctx  context.Context // of the command that reads it
	file *os.File
	stop func() bool
	pipe bool
	n    int64
}

// Open opens a file, or a pipe such as the shell makes for <(command). It does not wait
// for a writer.
func Open(ctx context.Context, name string) (*File, error) {
	file, mode, err := openChecked(name, 0, os.Stat, checkInput)
	if err != nil {
		return nil, err
	}
	// Only a pipe can make a reader wait, and have a deadline.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	return &File{ctx: ctx, file: file, stop: stop, pipe: mode&fs.ModeNamedPipe != 0}, nil
}

func checkInput(name string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular(), mode&fs.ModeNamedPipe != 0:
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a folder, not a file", name)
	}
	return fmt.Errorf("%s is not a regular file, and no pipe", name)
}

// Regular opens a regular file: no link, pipe or device that a stranger put there.
func Regular(name string) (*os.File, error) {
	file, _, err := openChecked(name, syscall.O_NOFOLLOW, os.Lstat, func(name string, mode fs.FileMode) error {
		if !mode.IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		return nil
	})
	return file, err
}

// openChecked opens a file that check accepts. It checks before opening, because opening a
// device may already have an effect, and again afterwards.
func openChecked(name string, flags int, stat func(string) (fs.FileInfo, error), check func(string, fs.FileMode) error) (*os.File, fs.FileMode, error) {
	info, err := stat(name)
	if err == nil {
		err = check(name, info.Mode())
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err == nil {
		err = check(name, info.Mode())
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Mode(), nil
}

// Read fails once the command is interrupted, and at the end of a pipe without a writer.
func (in *File) Read(b []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.file.Read(b)
	in.n += int64(n)
	switch {
	case err != nil && in.ctx.Err() != nil:
		return n, in.ctx.Err()
	case errors.Is(err, io.EOF) && in.pipe && in.n == 0:
		return n, errors.New("it is a pipe, and nobody writes to it")
	}
	return n, err
}

// Size returns how many bytes were read.
func (in *File) Size() int64 { return in.n }

// Close closes the file.
func (in *File) Close() error {
	in.stop()
	return in.file.Close()
}

// EscapeGlob returns a pattern that matches just that path.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
