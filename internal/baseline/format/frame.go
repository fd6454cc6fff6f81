// Package format defines how the files of a store are written: the content of each,
// sealed, and how large it may be.
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
// followed by that many bytes with that digest: its content, compressed by zstd. So each
// file says what it is, whether it is whole, and which version can read it.

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
	// limit is the largest content of such a file, in bytes.
	limit int64
	// Named reports whether name can be the name of such a file.
	Named func(name string) bool
}

// The kinds of files. Kinds is in the order in which a save writes them.
var (
	RunKind    = Kind{"run", "runs", maxRun, baseline.IDForm.MatchString}
	IndexKind  = Kind{"index", "index", MaxMeta, baseline.IDForm.MatchString}
	PointsKind = Kind{"points", "points", maxPoints, baseline.IDForm.MatchString}
	ObjectKind = Kind{"object", "objects", MaxObject, baseline.SHA256Form.MatchString}
	TagKind    = Kind{"tag", "tags", maxTag, TagForm.MatchString}
	Kinds      = []Kind{ObjectKind, RunKind, PointsKind, TagKind, IndexKind}
)

// MaxFile returns the largest plausible size of such a file: incompressible content grows
// a little.
func (k Kind) MaxFile() int64 { return k.limit + k.limit/64 + 4096 }

// Path returns the path of a file in a store.
func (k Kind) Path(name string) string { return k.Dir + "/" + name }

// errVersion says that a later version wrote a file, which is not damage.
var errVersion = errors.New("of an unknown version")

// Seal returns a file with that content.
func Seal(k Kind, content []byte) []byte {
	packed := Compress(content)
	return append(FrameLine(k.Name, packed), packed...)
}

// FrameLine returns the first line of a file.
func FrameLine(kind string, packed []byte) []byte {
	return fmt.Appendf(nil, "%s %s v%d %x %d\n", frameMagic, kind, frameVersion, sha256.Sum256(packed), len(packed))
}

// IsFile reports whether a file that begins with head is one of a store.
func IsFile(head []byte) bool { return bytes.HasPrefix(head, []byte(frameMagic+" ")) }

// Unseal returns the content of a file, or what is wrong with it.
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
			"a later ebpf-bench wrote it: use that one")
	case err != nil:
		return nil, errFirstLine
	case name != k.Name:
		return nil, fmt.Errorf("it says that it holds another kind of data, %.20q", name)
	case len(packed) < length:
		return nil, fmt.Errorf("truncated: %d bytes of %d are there", len(packed), length)
	case len(packed) > length:
		return nil, fmt.Errorf("%d bytes follow its end", len(packed)-length)
	// Comparing the whole line leaves no bit of it unchecked.
	case !bytes.Equal(FrameLine(k.Name, packed), line):
		return nil, errors.New("damaged: its SHA-256 is another")
	}
	return decompress(packed, k.limit)
}

var errFirstLine = errors.New("damaged in its first line")
