// Package format is how the files of a store are written: what each holds, sealed, and
// how large that may be.
package format

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Every file of a store begins with a line such as
//
//	ebpf-bench-baseline run v1 SHA256 LENGTH
//
// and goes on with that many bytes of that digest: what it holds, compressed
// by zstd. So each file says what it is, whether it is whole, and by which
// version it can be read.

const (
	frameMagic   = "ebpf-bench-baseline"
	frameVersion = 1
	maxFrameLine = 160
)

// Kind is one of the kinds of files.
type Kind struct {
	Name string
	// Dir is the folder of such files.
	Dir string
	// limit is the largest size of what such a file holds, in bytes.
	limit int64
	// Named reports whether that can be the name of such a file.
	Named func(name string) bool
}

// The kinds of files, Kinds in the order in which a save writes them.
var (
	RunKind    = Kind{"run", "runs", maxRun, baseline.IDForm.MatchString}
	IndexKind  = Kind{"index", "index", MaxMeta, baseline.IDForm.MatchString}
	PointsKind = Kind{"points", "points", maxPoints, baseline.IDForm.MatchString}
	ObjectKind = Kind{"object", "objects", MaxObject, baseline.SHA256Form.MatchString}
	TagKind    = Kind{"tag", "tags", maxTag, TagForm.MatchString}
	Kinds      = []Kind{ObjectKind, RunKind, PointsKind, TagKind, IndexKind}
)

// MaxFile is the largest plausible size of such a file: what does not shrink
// grows a little.
func (k Kind) MaxFile() int64 { return k.limit + k.limit/64 + 4096 }

// Path is where a file of that name is in a store.
func (k Kind) Path(name string) string { return k.Dir + "/" + name }

// errVersion says that a file was written by a later version, which does not
// make it a damaged one.
var errVersion = errors.New("of an unknown version")

// Seal makes the file that holds content.
func Seal(k Kind, content []byte) []byte {
	packed := Compress(content)
	return append(FrameLine(k.Name, packed), packed...)
}

// FrameLine is the first line of a file.
func FrameLine(kind string, packed []byte) []byte {
	return fmt.Appendf(nil, "%s %s v%d %x %d\n", frameMagic, kind, frameVersion, sha256.Sum256(packed), len(packed))
}

// IsFile reports whether a file that begins so is one of a store.
func IsFile(head []byte) bool { return bytes.HasPrefix(head, []byte(frameMagic+" ")) }

// Unseal is the content of a file, or what is wrong with it.
func Unseal(k Kind, file []byte) ([]byte, error) {
	end := bytes.IndexByte(file[:min(len(file), maxFrameLine)], '\n')
	switch {
	case len(file) == 0:
		return nil, errors.New("empty")
	case !bytes.HasPrefix(file, []byte(frameMagic)) && !bytes.HasPrefix([]byte(frameMagic), file):
		return nil, errors.New("no file of a baseline, or a damaged one")
	case end < 0 && len(file) < maxFrameLine:
		return nil, errors.New("truncated in its first line")
	case end < 0:
		return nil, errFirstLine
	}
	line, packed := file[:end+1], file[end+1:]
	var (
		name, digest string
		version      int
		length       int
	)
	_, err := fmt.Sscanf(string(line), frameMagic+" %s v%d %s %d\n", &name, &version, &digest, &length)
	switch {
	case version > frameVersion && name == k.Name:
		return nil, bench.WithHint(
			fmt.Errorf("%w: it is version %d, this ebpf-bench reads version %d", errVersion, version, frameVersion),
			"A later ebpf-bench wrote it: use that one.")
	case err != nil:
		return nil, errFirstLine
	case name != k.Name:
		return nil, fmt.Errorf("it says that it holds another kind of data, %.20q", name)
	case len(packed) < length:
		return nil, fmt.Errorf("truncated: %d bytes of %d are there", len(packed), length)
	case len(packed) > length:
		return nil, fmt.Errorf("%d bytes follow its end", len(packed)-length)
	// The line is compared whole, which leaves no bit of it unchecked.
	case !bytes.Equal(FrameLine(k.Name, packed), line):
		return nil, errors.New("damaged: its SHA-256 is another")
	}
	return decompress(packed, k.limit)
}

var errFirstLine = errors.New("damaged in its first line")
