// Package untrusted reads what strangers have written: files and compressed data,
// never more of it than is plausible, and only if it is what its checksum says.
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
	MaxArchive = 8 << 30   // all that an archive holds
	MaxKept    = 1 << 30   // what is kept of it in memory
	MaxWindow  = 256 << 20 // what a compressed file may refer back to
)

// ReadAll is io.ReadAll for what may not be larger than limit.
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

// ReadN reads n bytes. It takes no memory for what a header merely promises.
func ReadN(r io.Reader, n int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(n, 64<<20)) + bytes.MinRead)
	if _, err := io.CopyN(&data, r, n); err != nil {
		return nil, UnexpectedEOF(err)
	}
	return data.Bytes(), nil
}

// TooLargeError is how large something may be that is larger.
type TooLargeError int64

func (e TooLargeError) Error() string {
	if e < 1<<20 {
		return fmt.Sprintf("larger than %d bytes", int64(e))
	}
	return fmt.Sprintf("larger than the %d MiB that are plausible", int64(e)>>20)
}

// ReadFile is fs.ReadFile for a file that may not be larger than limit.
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

// UnexpectedEOF spares the reader an "EOF" where a file ends too early.
func UnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// LocalName returns a name in an archive without the "./" or "/" before it. A name
// that leads out of the archive is not a name at all.
func LocalName(name string) (string, error) {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("archive is hostile: it names a file %q", name)
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}
