// Package untrusted reads files and compressed data from strangers: never more than is
// plausible, and only if it matches its checksum.
package untrusted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// No honest file comes near these sizes, and no hostile one fills the memory.
const (
	MaxImage   = 1 << 30
	MaxModule  = 256 << 20
	MaxText    = 32 << 20  // a config, a System.map, an index of an archive
	MaxArchive = 8 << 30   // all files of an archive
	MaxKept    = 1 << 30   // the part of it that is kept in memory
	MaxWindow  = 256 << 20 // how far a compressed file may refer back
)

// ReadAll is io.ReadAll with a limit on the size.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, TooLargeError(limit)
	}
	return data, nil
}

// ReadN reads n bytes. It does not allocate memory for bytes that a header merely
// promises.
func ReadN(r io.Reader, n int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(n, 64<<20)) + bytes.MinRead)
	if _, err := io.CopyN(&data, r, n); err != nil {
		return nil, UnexpectedEOF(err)
	}
	return data.Bytes(), nil
}

// TooLargeError is the limit that an input exceeds.
type TooLargeError int64

func (e TooLargeError) Error() string {
	if e < 1<<20 {
		return fmt.Sprintf("larger than %d bytes", int64(e))
	}
	return fmt.Sprintf("larger than the %d MiB that are plausible", int64(e)>>20)
}

// ReadFile is fs.ReadFile with a limit on the size.
func ReadFile(root fs.FS, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := ReadAll(f, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// UnexpectedEOF replaces io.EOF, for a file that ends too early, by io.ErrUnexpectedEOF.
func UnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// LocalName returns a name in an archive without the "./" or "/" before it. It refuses a
// name that leads out of the archive.
func LocalName(name string) (string, error) {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("archive is hostile: it names a file %q", name)
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}
