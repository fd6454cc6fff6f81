package format

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Coders are costly to make and may be shared.
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

// Compress makes one frame of zstd.
func Compress(content []byte) []byte { return encoder().EncodeAll(content, nil) }

// decompress is what compress was given. Memory is taken for as many bytes as
// the data say they become, if these are no more than limit.
func decompress(packed []byte, limit int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	size := h.FrameContentSize
	if !h.HasFCS {
		size = 255 // zstd leaves out the size of what is not a larger
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
