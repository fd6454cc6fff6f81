package guest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// FrameType is the kind of a message from the guest.
type FrameType string

// The types of frames.
const (
	FrameHello     FrameType = "hello"     // the guest is ready: hello
	FrameHeartbeat FrameType = "heartbeat" // the guest is alive
	FrameStdout    FrameType = "stdout"    // the command wrote: []byte
	FrameStderr    FrameType = "stderr"
	FrameResult    FrameType = "result" // the command reported: any JSON
	FrameExit      FrameType = "exit"   // the command has ended: exit
)

// Frame is one message from the guest. On the wire it is a line: its length and
// its CRC-32 in hexadecimal, and the frame as JSON, which contains no newline.
//
//	0000001c 93d1ab3f {"type":"heartbeat","seq":7}
//
// The guest uses the serial port for nothing else, so nothing comes between the
// frames. Their sequence numbers show if one is lost all the same.
type Frame struct {
	Type FrameType       `json:"type"`
	Seq  uint64          `json:"seq"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Hello is how the guest introduces itself.
type Hello struct {
	Release  string   `json:"release"`
	Build    string   `json:"build"`
	CPU      string   `json:"cpu"`
	Warnings []string `json:"warnings,omitempty"`
}

// Exit is how the command ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// OOMKills is how many processes the kernel killed for lack of memory.
	OOMKills int `json:"oom_kills,omitempty"`
	// Error is why the command could not be run.
	Error string `json:"error,omitempty"`
}

// frameHeader is the length of the part before the JSON.
const frameHeader = len("00000000 00000000 ")

// maxFrame bounds a frame, so that a guest cannot exhaust the host's memory.
const maxFrame = 16 << 20

// Encode returns a frame as it is on the wire.
func Encode(f Frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(body) > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes is longer than the %d of a frame", len(body), maxFrame)
	}
	line := fmt.Appendf(nil, "%08x %08x ", len(body), crc32.ChecksumIEEE(body))
	return append(append(line, body...), '\n'), nil
}

// Reader reads the frames of a guest, in order.
type Reader struct {
	r    *bufio.Reader
	next uint64
}

// NewReader returns a reader of the frames that a guest sends.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10)}
}

// Read returns the next frame, or io.EOF, even if a guest was ended within one.
// Any other error is final: after losing a frame, the rest cannot be trusted.
func (fr *Reader) Read() (Frame, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(fr.r, header[:]); err != nil {
		return Frame{}, io.EOF
	}
	size, sum, ok := parseHeader(header[:])
	if !ok {
		return Frame{}, fmt.Errorf("%q is not a header of a frame", header)
	}
	// The length is still unchecked: let the buffer grow with the data.
	var line bytes.Buffer
	if _, err := io.CopyN(&line, fr.r, int64(size)+1); err != nil {
		return Frame{}, io.EOF
	}
	return fr.decode(line.Bytes(), size, sum)
}

// decode reads a frame and the end of its line.
func (fr *Reader) decode(line []byte, size, sum uint32) (Frame, error) {
	body := line[:size]
	if line[size] != '\n' || crc32.ChecksumIEEE(body) != sum {
		return Frame{}, errors.New("the checksum of a frame is wrong")
	}
	var f Frame
	if err := json.Unmarshal(body, &f); err != nil {
		return Frame{}, fmt.Errorf("a frame is not as agreed: %w", err)
	}
	if f.Seq != fr.next {
		return Frame{}, fmt.Errorf("frame %d comes instead of frame %d", f.Seq, fr.next)
	}
	fr.next++
	return f, nil
}

func parseHeader(h []byte) (size, sum uint32, ok bool) {
	n, err1 := strconv.ParseUint(string(h[:8]), 16, 32)
	c, err2 := strconv.ParseUint(string(h[9:17]), 16, 32)
	ok = err1 == nil && err2 == nil && h[8] == ' ' && h[17] == ' ' && n <= maxFrame
	return uint32(n), uint32(c), ok
}
