package folder

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// The files of a run:
//
//	meta.json        what lists show of it, and the SHA-256 of the files below
//	run.json.zst     the run, as bench.EncodeRuns writes it
//	points.json.zst  its points, a line for each measure, for histories
//	suite.json.zst   the files of its suite by their path, if it has any
//	SHA256.zst       an object
//	tag.NAME         empty: the name is the tag
//
// The run's ID has the beginning of the SHA-256 of meta.json, so it vouches for all files.
const (
	metaFile   = "meta.json"
	runFile    = "run.json.zst"
	pointsFile = "points.json.zst"
	suiteFile  = "suite.json.zst"
	tagPrefix  = "tag."
)

func objectFile(sum string) string { return sum + ".zst" }

// No honest run comes near these sizes, and no hostile one fills the memory.
const (
	maxMeta   = 1 << 20  // bytes of meta.json
	maxPoints = 32 << 20 // bytes of the points, unpacked
	maxObject = 64 << 20 // bytes of an object, unpacked
	maxFiles  = 64 << 20 // bytes of the files of a suite
	maxSuite  = 2 * maxFiles
	maxRun    = 512 << 20 // bytes of all files of a run, unpacked
)

// version is that of these files.
const version = 1

// meta is the content of meta.json.
type meta struct {
	Version int `json:"version"`
	// Meta lacks ID and tags.
	baseline.Meta
	// Files maps the names of the files, except the objects, to the SHA-256 of what is
	// compressed in them.
	Files map[string]string `json:"files"`
}

// stored is a run as it is stored.
type stored struct {
	meta
	// files are the files by name.
	files map[string][]byte
}

// encode returns a run as it is stored. It refuses what could not be read back.
func encode(e *baseline.Entry) (*stored, error) {
	if e.Run == nil {
		return nil, errors.New("no run")
	}
	m := meta{Version: version, Files: make(map[string]string), Meta: baseline.Meta{
		Branch: e.Branch, Commit: e.Commit, Time: e.Time,
		Testbed: baseline.Key(e.Run.Testbed), Machine: baseline.Machine(e.Run.Testbed), Tool: e.Run.Tool,
	}}
	if m.Time.IsZero() {
		m.Time = e.Run.Started
	}
	m.Time = m.Time.UTC().Round(0)
	s := &stored{files: make(map[string][]byte)}
	add := func(name string, content []byte) {
		m.Files[name], s.files[name] = sumOf(content), compress(content)
	}
	var run bytes.Buffer
	if err := bench.EncodeRuns(&run, e.Run); err != nil {
		return nil, err
	}
	add(runFile, run.Bytes())
	var points bytes.Buffer
	for _, measure := range slices.Sorted(maps.Keys(e.Points)) {
		l := line{Measure: measure, Benchmarks: slices.Sorted(maps.Keys(e.Points[measure]))}
		for _, benchmark := range l.Benchmarks {
			l.Values = append(l.Values, e.Points[measure][benchmark])
		}
		if err := json.NewEncoder(&points).Encode(l); err != nil {
			return nil, fmt.Errorf("points of %s: %w", measure, err)
		}
	}
	add(pointsFile, points.Bytes())
	if len(e.Files) > 0 {
		files, _ := json.Marshal(e.Files) // cannot fail: only bytes
		add(suiteFile, files)
	}
	for sum, data := range e.Objects {
		if got := sumOf(data); got != sum {
			return nil, fmt.Errorf("object %.80q has another SHA-256, %s", sum, got)
		}
		m.Digests = append(m.Digests, sum)
		s.files[objectFile(sum)] = compress(data)
	}
	slices.Sort(m.Digests)
	for _, tag := range e.Tags {
		name, err := tagFile(tag)
		if err != nil {
			return nil, err
		}
		s.files[name] = nil
	}
	if err := baseline.CheckTime(m.Time); err != nil {
		return nil, err
	}
	s.files[metaFile], _ = json.Marshal(m) // cannot fail: only text and a checked time
	id := idOf(&m, s.files[metaFile])
	_, err := s.reader().entry(context.Background(), id)
	if p, ok := errors.AsType[fileError](err); ok {
		err = p.error
	}
	m.ID = id
	s.meta = m
	return s, err
}

// idOf returns the ID of the run with that meta.json.
func idOf(m *meta, text []byte) string {
	return m.Time.UTC().Format("20060102T150405Z") + "-" + sumOf(text)[:8]
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// reader returns the files of the run.
func (s *stored) reader() *reader {
	return &reader{raw: func(name string, _ int64) ([]byte, error) {
		if data, ok := s.files[name]; ok {
			return data, nil
		}
		return nil, fs.ErrNotExist
	}}
}

// A reader reads and checks the files of one run.
type reader struct {
	// raw returns a file, which must not be larger than most.
	raw func(name string, most int64) ([]byte, error)
	// size is how much was unpacked.
	size int64
}

// fileError is an error of a file of a run.
type fileError struct {
	name string
	error
}

func (e fileError) Unwrap() error { return e.error }

func ofFile(name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("missing")
	}
	return fileError{name, err}
}

// meta returns the meta.json of the run with that ID.
func (r *reader) meta(id string) (*meta, error) {
	m, err := r.readMeta(id)
	return m, ofFile(metaFile, err)
}

func (r *reader) readMeta(id string) (*meta, error) {
	text, err := r.raw(metaFile, maxMeta)
	if err != nil {
		return nil, err
	}
	var m meta
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("damaged: %w", strictjson.Reword(err))
	}
	if m.Version != version {
		return nil, bench.WithHint(fmt.Errorf("it is version %d, this ebpf-bench reads version %d", m.Version, version),
			"a later ebpf-bench wrote it: use that one")
	}
	if got := idOf(&m, text); got != id {
		return nil, errors.New("damaged: its SHA-256 is not that of the run's ID")
	}
	if m.ID != "" || m.Tags != nil {
		return nil, errors.New("it has an ID or tags, which are in names of files")
	}
	m.ID = id
	return &m, m.Check()
}

// content returns what a file holds, if it has that SHA-256.
func (r *reader) content(name, sum string, most int64) ([]byte, error) {
	data, err := r.unpacked(name, sum, most)
	return data, ofFile(name, err)
}

func (r *reader) unpacked(name, sum string, most int64) ([]byte, error) {
	packed, err := r.raw(name, most+most/64+4096) // what cannot be compressed grows a little
	if err != nil {
		return nil, err
	}
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, errors.New("damaged: its first bytes are not those of zstd")
	}
	// zstd may omit the size of content up to 255 bytes.
	size := int64(255)
	if h.HasFCS {
		size = int64(min(h.FrameContentSize, maxRun+1))
	}
	if r.size += size; size > most || r.size > maxRun {
		return nil, fmt.Errorf("%d bytes are more than the %d MiB that are plausible", size, most>>20)
	}
	data, err := decoder().DecodeAll(packed, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if got := sumOf(data); got != sum {
		return nil, fmt.Errorf("damaged: its SHA-256 is another, %.12s", got)
	}
	return data, nil
}

// line is a line of the points: those of one measure. It begins with the measure, so a
// history of one measure need not decode the others.
type line struct {
	Measure    string    `json:"measure"`
	Benchmarks []string  `json:"benchmarks"`
	Values     []float64 `json:"values"`
}

// lines returns the points of a run, or just those of the wanted measures if any is named.
func (r *reader) lines(m *meta, wanted ...string) ([]line, error) {
	text, err := r.content(pointsFile, m.Files[pointsFile], maxPoints)
	if err != nil {
		return nil, err
	}
	var heads [][]byte
	for _, measure := range wanted {
		name, _ := json.Marshal(measure) // cannot fail: only text
		heads = append(heads, fmt.Appendf(nil, `{"measure":%s,`, name))
	}
	var all []line
	for text := range bytes.Lines(text) {
		if wanted != nil && !slices.ContainsFunc(heads, func(head []byte) bool { return bytes.HasPrefix(text, head) }) {
			continue
		}
		var l line
		err := json.Unmarshal(text, &l)
		if err == nil && len(l.Values) != len(l.Benchmarks) {
			err = fmt.Errorf("%d values of %d benchmarks", len(l.Values), len(l.Benchmarks))
		}
		if err != nil {
			return nil, ofFile(pointsFile, strictjson.Reword(err))
		}
		all = append(all, l)
	}
	return all, nil
}

// files returns the names of the files that a run has, except meta.json and tags, with
// their SHA-256.
func (m *meta) files() map[string]string {
	all := make(map[string]string)
	for _, name := range []string{runFile, pointsFile, suiteFile} {
		if sum, ok := m.Files[name]; ok || name != suiteFile {
			all[name] = sum
		}
	}
	for _, sum := range m.Digests {
		all[objectFile(sum)] = sum
	}
	return all
}

// entry returns the whole run, without its tags.
func (r *reader) entry(ctx context.Context, id string) (*baseline.Entry, error) {
	m, err := r.meta(id)
	if err != nil {
		return nil, err
	}
	e := &baseline.Entry{Meta: m.Meta, Objects: make(map[string][]byte)}
	text, err := r.content(runFile, m.Files[runFile], bench.MaxRunSize)
	if err != nil {
		return nil, err
	}
	if e.Run, err = bench.DecodeRun(bytes.NewReader(text)); err != nil {
		return nil, ofFile(runFile, err)
	}
	lines, err := r.lines(m)
	if err != nil {
		return nil, err
	}
	e.Points = make(baseline.Points)
	for _, l := range lines {
		e.Points[l.Measure] = make(map[string]float64)
		for i, benchmark := range l.Benchmarks {
			e.Points[l.Measure][benchmark] = l.Values[i]
		}
	}
	if m.Files[suiteFile] != "" {
		text, err := r.content(suiteFile, m.Files[suiteFile], maxSuite)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &e.Files); err != nil {
			return nil, ofFile(suiteFile, strictjson.Reword(err))
		}
	}
	for _, sum := range m.Digests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e.Objects[sum], err = r.content(objectFile(sum), sum, maxObject); err != nil {
			return nil, err
		}
	}
	return e, check(e)
}

// check checks that the parts of an entry belong together.
func check(e *baseline.Entry) error {
	size := 0
	for name, data := range e.Files {
		if err := baseline.CheckPath(name); err != nil {
			return ofFile(suiteFile, err)
		}
		size += len(data)
	}
	if size > maxFiles {
		return ofFile(suiteFile, fmt.Errorf("%d bytes are more than the %d MiB that are plausible", size, maxFiles>>20))
	}
	for measure, of := range e.Points {
		for benchmark := range of {
			if err := cmp.Or(baseline.CheckName("measure", measure), baseline.CheckName("benchmark", benchmark)); err != nil {
				return ofFile(pointsFile, err)
			}
		}
	}
	if len(e.Run.Results) == 0 {
		return ofFile(runFile, errors.New("the run has no results"))
	}
	for i := range e.Run.Results {
		r := &e.Run.Results[i]
		if _, ok := e.Objects[r.ObjectSHA256]; !ok && r.ObjectSHA256 != "" {
			return ofFile(runFile, fmt.Errorf("benchmark %q was measured with the object %.80q, which is not among the entry's", r.Benchmark, r.ObjectSHA256))
		}
	}
	return nil
}

// tagFile returns the name of the file of a tag.
func tagFile(tag string) (string, error) {
	if err := baseline.CheckName("tag", tag); err != nil {
		return "", err
	}
	name := tagPrefix + url.PathEscape(tag)
	if len(name) > 255 { // NAME_MAX
		return "", fmt.Errorf("the tag %.40q… is too long for the name of a file", tag)
	}
	return name, nil
}

// tagOf returns the tag of the file with that name; ok is false if it has none.
func tagOf(file string) (tag string, ok bool) {
	name, ok := strings.CutPrefix(file, tagPrefix)
	if !ok {
		return "", false
	}
	tag, err := url.PathUnescape(name)
	if err != nil {
		return "", false
	}
	again, err := tagFile(tag)
	return tag, err == nil && again == file
}

// fileForm matches the names of the files of runs.
var fileForm = regexp.MustCompile(`^(meta\.json|(run|points|suite)\.json\.zst|[0-9a-f]{64}\.zst|tag\.[^/]+)$`)

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

func compress(content []byte) []byte { return encoder().EncodeAll(content, nil) }
