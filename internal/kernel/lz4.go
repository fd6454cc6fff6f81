package kernel

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// lz4Legacy reads the legacy frame of LZ4, which the kernel uses for itself:
// a magic, then blocks of at most 8 MiB behind their compressed size.
type lz4Legacy struct {
	in      io.Reader
	begun   bool
	packed  []byte
	buf     []byte
	pending []byte
}

const (
	lz4Magic = "\x02\x21\x4c\x18"
	lz4Block = 8 << 20
)

func (l *lz4Legacy) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// next reads a block; io.EOF says that there is none.
func (l *lz4Legacy) next() error {
	var word [4]byte
	if !l.begun {
		if _, err := io.ReadFull(l.in, word[:]); err != nil {
			return unexpectedEOF(err)
		}
		l.begun = true
		l.buf = make([]byte, lz4Block)
	}
	if _, err := io.ReadFull(l.in, word[:]); err != nil {
		return err
	}
	size := int(binary.LittleEndian.Uint32(word[:]))
	if size > lz4.CompressBlockBound(lz4Block) {
		return fmt.Errorf("LZ4 block of %d bytes", size)
	}
	if cap(l.packed) < size {
		l.packed = make([]byte, size)
	}
	packed := l.packed[:size]
	if _, err := io.ReadFull(l.in, packed); err != nil {
		return unexpectedEOF(err)
	}
	n, err := lz4.UncompressBlock(packed, l.buf)
	if err != nil {
		return fmt.Errorf("LZ4 block: %w", err)
	}
	l.pending = l.buf[:n]
	return nil
}
