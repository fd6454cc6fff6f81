package tree

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// arReader reads the members of an ar archive one after the other, as tar.Reader does for
// tar. It knows as much of the format as .deb files use.
type arReader struct {
	in     *bufio.Reader
	member io.LimitedReader
	pad    int64
}

const (
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
	arHeaderEnd  = "`\n"
)

// newArReader returns a reader at the start of an archive.
func newArReader(in io.Reader) (*arReader, error) {
	a := &arReader{in: bufio.NewReader(in)}
	magic := make([]byte, len(arMagic))
	if _, err := io.ReadFull(a.in, magic); err != nil || string(magic) != arMagic {
		return nil, errors.New("not an ar archive")
	}
	a.member = io.LimitedReader{R: a.in}
	return a, nil
}

// next moves to the next member. It returns io.EOF after the last one.
func (a *arReader) next() (name string, err error) {
	if _, err := io.CopyN(io.Discard, a.in, a.member.N+a.pad); err != nil {
		return "", untrusted.UnexpectedEOF(err)
	}
	header := make([]byte, arHeaderSize)
	if _, err := io.ReadFull(a.in, header); err != nil {
		return "", err
	}
	if string(header[58:]) != arHeaderEnd {
		return "", errors.New("ar header is damaged")
	}
	size, err := strconv.ParseUint(strings.TrimRight(string(header[48:58]), " "), 10, 40)
	if err != nil {
		return "", fmt.Errorf("size in ar header: %w", err)
	}
	a.member.N, a.pad = int64(size), int64(size&1)
	return strings.TrimSuffix(strings.TrimRight(string(header[:16]), " "), "/"), nil
}

// Read reads from the member.
func (a *arReader) Read(p []byte) (int, error) {
	n, err := a.member.Read(p)
	if errors.Is(err, io.EOF) && a.member.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
