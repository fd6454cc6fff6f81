package untrusted

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz/lzma"
)

// The beginnings of compressed data, by format.
const (
	GzipMagic  = "\x1f\x8b\x08"
	xzMagic    = "\xfd7zXZ\x00"
	ZstdMagic  = "\x28\xb5\x2f\xfd"
	lz4Magic   = "\x02\x21\x4c\x18" // of the legacy frame, which the kernel uses for itself
	bzip2Magic = "BZh"
	lzmaMagic  = "\x5d\x00\x00"
	lzoMagic   = "\x89LZO"
)

// Decompress unpacks data. It recognizes the format by the beginning.
func Decompress(data []byte, limit int64) ([]byte, error) {
	r, err := Decompressor(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Kernels and modules shrink to a fifth; the buffer grows if data shrank more.
	var out bytes.Buffer
	out.Grow(int(min(5*int64(len(data)), limit)))
	n, err := io.Copy(&out, io.LimitReader(r, limit+1))
	if err != nil {
		return nil, UnexpectedEOF(err)
	}
	if n > limit {
		return nil, TooLargeError(limit)
	}
	return out.Bytes(), nil
}

// Decompressor is Decompress for a stream.
func Decompressor(in io.Reader) (io.ReadCloser, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	begin, err := r.Peek(len(xzMagic))
	if err != nil {
		return nil, UnexpectedEOF(err)
	}
	has := func(magic string) bool { return bytes.HasPrefix(begin, []byte(magic)) }
	switch {
	case has(GzipMagic):
		return gzip.NewReader(r)
	case has(xzMagic):
		return newXZ(r)
	case has(ZstdMagic):
		return newZstd(r)
	case has(lz4Magic):
		return io.NopCloser(lz4.NewReader(r)), nil
	case has(bzip2Magic):
		return io.NopCloser(bzip2.NewReader(r)), nil
	case has(lzmaMagic):
		return newLZMA(r)
	case has(lzoMagic):
		return nil, errors.New("compressed by LZO, which is not supported")
	default:
		return nil, fmt.Errorf("compressed in an unknown way: begins with % x", begin)
	}
}

// newXZ reads xz, including the filters for machine code that kernel images use.
func newXZ(r io.Reader) (io.ReadCloser, error) {
	d, err := xz.NewReader(r, MaxWindow)
	return io.NopCloser(d), err
}

// newLZMA reads LZMA, whose header says how large a dictionary the reader allocates.
func newLZMA(r *bufio.Reader) (io.ReadCloser, error) {
	header, err := r.Peek(lzma.HeaderLen)
	if err != nil {
		return nil, UnexpectedEOF(err)
	}
	if n := binary.LittleEndian.Uint32(header[1:]); n > MaxWindow {
		return nil, fmt.Errorf("its dictionary: %w", TooLargeError(MaxWindow))
	}
	d, err := lzma.NewReader(r)
	return io.NopCloser(d), err
}

func newZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
