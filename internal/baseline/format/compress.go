package format

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Coders are expensive to make and can be shared.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are wrong
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// Compress returns content as one frame of zstd.
func Compress(content []byte) []byte { return encoder().EncodeAll(content, nil) }

// decompress reverses Compress. It allocates as many bytes as the data announce, up to
// limit.
func decompress(packed []byte, limit int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	size := h.FrameContentSize
	if !h.HasFCS {
		size = 255 // zstd may omit the size of content up to this
	}
	if size > uint64(limit) {
		return nil, fmt.Errorf("decompress: %w", TooLarge(size, limit))
	}
	if !Plausible(int64(size), int64(len(packed)), maxRatio) {
		return nil, fmt.Errorf("decompress: %w", ErrBomb)
	}
	content, err := decoder().DecodeAll(packed, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return content, nil
}
