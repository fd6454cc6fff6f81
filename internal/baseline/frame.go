package baseline

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

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

// kind is one of the kinds of files.
type kind struct {
	name string
	// dir is the folder of such files.
	dir string
	// limit is the largest size of what such a file holds, in bytes.
	limit int64
	// named tells whether that can be the name of such a file.
	named func(name string) bool
}

var (
	runKind    = kind{"run", "runs", maxRun, idForm.MatchString}
	indexKind  = kind{"index", "index", maxMeta, idForm.MatchString}
	pointsKind = kind{"points", "points", maxPoints, idForm.MatchString}
	objectKind = kind{"object", "objects", maxObject, sha256Form.MatchString}
	tagKind    = kind{"tag", "tags", maxTag, tagForm.MatchString}
	kinds      = []kind{objectKind, runKind, pointsKind, tagKind, indexKind}
)

// maxFile is the largest plausible size of such a file: what does not shrink
// grows a little.
func (k kind) maxFile() int64 { return k.limit + k.limit/64 + 4096 }

func (k kind) path(name string) string { return k.dir + "/" + name }

// errVersion says that a file was written by a later version, which does not
// make it a damaged one.
var errVersion = errors.New("of an unknown version")

// seal makes the file that holds content.
func seal(k kind, content []byte) []byte {
	packed := compress(content)
	return append(frameLine(k.name, packed), packed...)
}

func frameLine(kind string, packed []byte) []byte {
	return fmt.Appendf(nil, "%s %s v%d %x %d\n", frameMagic, kind, frameVersion, sha256.Sum256(packed), len(packed))
}

// IsFile tells whether a file that begins so is one of a store.
func IsFile(head []byte) bool { return bytes.HasPrefix(head, []byte(frameMagic+" ")) }

// unseal is the content of a file, or what is wrong with it.
func unseal(k kind, file []byte) ([]byte, error) {
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
	case version > frameVersion && name == k.name:
		return nil, bench.WithHint(
			fmt.Errorf("%w: it is version %d, this ebpf-bench reads version %d", errVersion, version, frameVersion),
			"A later ebpf-bench wrote it: use that one.")
	case err != nil:
		return nil, errFirstLine
	case name != k.name:
		return nil, fmt.Errorf("it says that it holds another kind of data, %.20q", name)
	case len(packed) < length:
		return nil, fmt.Errorf("truncated: %d bytes of %d are there", len(packed), length)
	case len(packed) > length:
		return nil, fmt.Errorf("%d bytes follow its end", len(packed)-length)
	// The line is compared whole, which leaves no bit of it unchecked.
	case !bytes.Equal(frameLine(k.name, packed), line):
		return nil, errors.New("damaged: its SHA-256 is another")
	}
	return decompress(packed, k.limit)
}

var errFirstLine = errors.New("damaged in its first line")
