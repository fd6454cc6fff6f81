package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// A run file holds all that is stored of a run but its objects and tags:
//
//	block of the header, JSON
//	block of the points, as in points.go
//	number of files, of each, sorted by name: block of its name, block of it
//	the run, as bench.Encode writes it
//
// All else about the run derives from it: its ID, its index and points files.

// header is what of a run's Meta the run itself does not say.
type header struct {
	Branch  string    `json:"branch,omitempty"`
	Commit  string    `json:"commit,omitempty"`
	Time    time.Time `json:"time"`
	Objects []string  `json:"objects,omitempty"`
}

// stored is a run as it is stored.
type stored struct {
	// Entry lacks the objects, and the tags.
	Entry
	// content is what the run file holds, points is their part of it.
	content, points []byte
}

// encodeRun is the run file's content for an entry. It refuses what
// decodeRun would.
func encodeRun(e *Entry) (*stored, error) {
	if e.Run == nil {
		return nil, errors.New("there is no run")
	}
	h := header{Branch: e.Branch, Commit: e.Commit, Time: e.Time, Objects: slices.Sorted(maps.Keys(e.Objects))}
	if h.Time.IsZero() {
		h.Time = e.Run.Started
	}
	if err := checkTime(h.Time); err != nil {
		return nil, err
	}
	h.Time = h.Time.UTC().Round(0)
	// Neither can fail: text and numbers alone.
	head, _ := json.Marshal(h)
	points, err := encodePoints(e.Points)
	if err != nil {
		return nil, fmt.Errorf("points: %w", err)
	}
	content := appendBlock(nil, head)
	content = appendBlock(content, points)
	content = appendNumber(content, len(e.Files))
	for _, name := range slices.Sorted(maps.Keys(e.Files)) {
		content = appendBlock(content, name)
		content = appendBlock(content, e.Files[name])
	}
	out := bytes.NewBuffer(content)
	if err := bench.Encode(out, e.Run); err != nil {
		return nil, err
	}
	return decodeRun(out.Bytes())
}

// decodeRun reads the content of a run file and checks that it is whole.
func decodeRun(content []byte) (*stored, error) {
	r := reader{data: content}
	head := r.block(maxMeta)
	s := &stored{content: content, points: r.block(maxPoints)}
	files, err := decodeFiles(&r)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	var h header
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if s.Points, err = decodePoints(s.points); err != nil {
		return nil, fmt.Errorf("points: %w", err)
	}
	if s.Run, err = bench.Decode(bytes.NewReader(r.data)); err != nil {
		return nil, err
	}
	s.Files = files
	s.Meta = Meta{
		ID:     idOf(h.Time, content),
		Branch: h.Branch, Commit: h.Commit, Time: h.Time.UTC(),
		Testbed: Key(s.Run.Testbed), Machine: Machine(s.Run.Testbed), Tool: s.Run.Tool,
		Digests: h.Objects,
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

func decodeFiles(r *reader) (map[string][]byte, error) {
	var files map[string][]byte
	last := ""
	for range r.number("files", maxMembers) {
		name, data := string(r.block(maxName)), r.block(maxFiles)
		if r.err == nil {
			r.err = checkPath(name)
		}
		if r.err != nil {
			break
		}
		if name <= last {
			return nil, errors.New("they are not sorted")
		}
		if last = name; files == nil {
			files = make(map[string][]byte)
		}
		// What is kept of a run must not keep all of it in memory.
		files[name] = bytes.Clone(data)
	}
	return files, r.err
}

// idOf is the ID of the run of that time, of which a run file holds content.
func idOf(t time.Time, content []byte) string {
	sum := sha256.Sum256(content)
	return t.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(sum[:4])
}

// check is the check of the Meta and of what the results refer to.
func (s *stored) check() error {
	if err := s.Meta.check(); err != nil {
		return err
	}
	if len(s.Run.Results) == 0 {
		return errors.New("the run has no results")
	}
	for i := range s.Run.Results {
		r := &s.Run.Results[i]
		if _, found := slices.BinarySearch(s.Digests, r.ObjectSHA256); !found && r.ObjectSHA256 != "" {
			return fmt.Errorf("benchmark %q was measured with the object %.80q, which is not among the entry's", r.Benchmark, r.ObjectSHA256)
		}
	}
	return nil
}
