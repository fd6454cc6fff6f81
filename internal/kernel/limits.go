package kernel

import (
	"bytes"
	"fmt"
	"io"
)

// No honest file comes near these sizes, and no hostile one fills the memory.
const (
	maxImage    = 1 << 30
	maxModule   = 256 << 20
	maxText     = 32 << 20  // a config, a System.map, an index of an archive
	maxArchive  = 8 << 30   // all that an archive holds
	maxKept     = 1 << 30   // what is kept of it in memory
	maxFiles    = 100_000   // the same in files
	maxWindow   = 256 << 20 // what a compressed file may refer back to
	maxPackages = 512 << 20
)

// readAll is io.ReadAll for what may not be larger than limit.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLargeError(limit)
	}
	return data, nil
}

// readN reads n bytes. It takes no memory for what a header merely promises.
func readN(r io.Reader, n int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(n, 64<<20)) + bytes.MinRead)
	if _, err := io.CopyN(&data, r, n); err != nil {
		return nil, unexpectedEOF(err)
	}
	return data.Bytes(), nil
}

// tooLargeError is how large something may be that is larger.
type tooLargeError int64

func (e tooLargeError) Error() string {
	if e < 1<<20 {
		return fmt.Sprintf("larger than %d bytes", int64(e))
	}
	return fmt.Sprintf("larger than the %d MiB that are plausible", int64(e)>>20)
}
