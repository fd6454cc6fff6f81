package vm

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

// frameType is the kind of a message from the guest.
type frameType string

const (
	frameHello     frameType = "hello"     // the guest is ready: hello
	frameHeartbeat frameType = "heartbeat" // the guest is alive
	frameStdout    frameType = "stdout"    // the command wrote: []byte
	frameStderr    frameType = "stderr"
	frameResult    frameType = "result" // the command reported: any JSON
	frameExit      frameType = "exit"   // the command has ended: exit
)

// frame is one message from the guest. On the wire it is a line: its length and
// its CRC-32 in hexadecimal, and the frame as JSON, which contains no newline.
//
//	0000001c 93d1ab3f {"type":"heartbeat","seq":7}
//
// The guest uses the serial port for nothing else, so nothing comes between the
// frames. Their sequence numbers show if one is lost all the same.
type frame struct {
	Type frameType       `json:"type"`
	Seq  uint64          `json:"seq"`
	Data json.RawMessage `json:"data,omitempty"`
}

// hello is how the guest introduces itself.
type hello struct {
	Release  string   `json:"release"`
	Build    string   `json:"build"`
	CPU      string   `json:"cpu"`
	Warnings []string `json:"warnings,omitempty"`
}

// exit is how the command ended.
type exit struct {
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

func encodeFrame(f frame) ([]byte, error) {
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

// frameReader reads the frames of a guest, in order.
type frameReader struct {
	r    *bufio.Reader
	next uint64
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// Read returns the next frame, or io.EOF, even if a guest was ended within one.
// Any other error is final: after losing a frame, the rest cannot be trusted.
func (fr *frameReader) Read() (frame, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(fr.r, header[:]); err != nil {
		return frame{}, io.EOF
	}
	size, sum, ok := parseHeader(header[:])
	if !ok {
		return frame{}, fmt.Errorf("%q is not a header of a frame", header)
	}
	// The length is still unchecked: let the buffer grow with the data.
	var line bytes.Buffer
	if _, err := io.CopyN(&line, fr.r, int64(size)+1); err != nil {
		return frame{}, io.EOF
	}
	return fr.decode(line.Bytes(), size, sum)
}

// decode reads a frame and the end of its line.
func (fr *frameReader) decode(line []byte, size, sum uint32) (frame, error) {
	body := line[:size]
	if line[size] != '\n' || crc32.ChecksumIEEE(body) != sum {
		return frame{}, errors.New("the checksum of a frame is wrong")
	}
	var f frame
	if err := json.Unmarshal(body, &f); err != nil {
		return frame{}, fmt.Errorf("a frame is not as agreed: %w", err)
	}
	if f.Seq != fr.next {
		return frame{}, fmt.Errorf("frame %d comes instead of frame %d", f.Seq, fr.next)
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
