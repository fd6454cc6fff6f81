package format

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

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// A run file holds all that is stored for a run except its objects and tags: the header, a
// line of JSON, the points, as in points.go, and the run as bench.EncodeRuns writes it.
// All else about the run derives from it: its ID, its index and points files.

// header is the part of an Entry that is not in the run itself.
type header struct {
	Branch  string            `json:"branch,omitempty"`
	Commit  string            `json:"commit,omitempty"`
	Time    time.Time         `json:"time"`
	Objects []string          `json:"objects,omitempty"`
	Files   map[string][]byte `json:"files,omitempty"`
	// Points is the size of the points in bytes.
	Points int `json:"points"`
}

// Stored is a run as it is stored.
type Stored struct {
	// Entry lacks the objects, and the tags.
	baseline.Entry
	// Content is the content of the run file, Table the part of it with the points.
	Content, Table []byte
}

// EncodeRun returns the content of the run file for an entry. It refuses what DecodeRun
// would.
func EncodeRun(e *baseline.Entry) (*Stored, error) {
	if e.Run == nil {
		return nil, errors.New("no run")
	}
	points, err := EncodePoints(e.Points)
	if err != nil {
		return nil, fmt.Errorf("points: %w", err)
	}
	h := header{
		Branch: e.Branch, Commit: e.Commit, Time: e.Time, Objects: slices.Sorted(maps.Keys(e.Objects)),
		Files: e.Files, Points: len(points),
	}
	if h.Time.IsZero() {
		h.Time = e.Run.Started
	}
	if err := baseline.CheckTime(h.Time); err != nil {
		return nil, err
	}
	h.Time = h.Time.UTC().Round(0)
	line, _ := json.Marshal(h) // cannot fail: only text and numbers
	out := bytes.NewBuffer(slices.Concat(line, []byte("\n"), points))
	if err := bench.EncodeRuns(out, e.Run); err != nil {
		return nil, err
	}
	return DecodeRun(out.Bytes())
}

// DecodeRun reads the content of a run file and checks that it is whole.
func DecodeRun(content []byte) (*Stored, error) {
	line, rest, _ := bytes.Cut(content, []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("header: %w", strictjson.Reword(err))
	}
	if h.Points < 0 || h.Points > len(rest) {
		return nil, fmt.Errorf("header: %d bytes of points, where %d are left", h.Points, len(rest))
	}
	s := &Stored{Content: content, Table: rest[:h.Points]}
	var err error
	if s.Points, err = DecodePoints(s.Table); err != nil {
		return nil, fmt.Errorf("points: %w", err)
	}
	if s.Run, err = bench.DecodeRun(bytes.NewReader(rest[h.Points:])); err != nil {
		return nil, err
	}
	s.Files = h.Files
	s.Meta = baseline.Meta{
		ID:     idOf(h.Time, content),
		Branch: h.Branch, Commit: h.Commit, Time: h.Time.UTC(),
		Testbed: baseline.Key(s.Run.Testbed), Machine: baseline.Machine(s.Run.Testbed), Tool: s.Run.Tool,
		Digests: h.Objects,
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// idOf returns the ID of the run at time t whose run file has that content.
func idOf(t time.Time, content []byte) string {
	sum := sha256.Sum256(content)
	return t.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(sum[:4])
}

// Check checks the Meta, and that the entry has what the results refer to.
func (s *Stored) Check() error {
	if err := s.Meta.Check(); err != nil {
		return err
	}
	size := 0
	for name, data := range s.Files {
		if err := baseline.CheckPath(name); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		size += len(data)
	}
	if size > maxFiles {
		return fmt.Errorf("files: %w", TooLarge(int64(size), maxFiles))
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
