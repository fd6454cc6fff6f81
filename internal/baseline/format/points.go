package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// The points of a run are a table: a line of JSON with the sorted names of its rows and
// columns,
//
//	{"benchmarks":["xdp/drop","xdp/pass"],"measures":["latency"]}
//
// and then, measure by measure, a float64 for each benchmark, little-endian, which is NaN
// if it was not measured. So a history of one measure skips the others, and reads the
// names once for many runs with the same benchmarks. The same points give the same bytes.
type table struct {
	Benchmarks []string `json:"benchmarks"`
	Measures   []string `json:"measures"`
}

// EncodePoints encodes points. It refuses points that could not be read back.
func EncodePoints(points []baseline.Point) ([]byte, error) {
	t := table{[]string{}, []string{}}
	for _, p := range points {
		t.Benchmarks, t.Measures = append(t.Benchmarks, p.Benchmark), append(t.Measures, p.Measure)
	}
	for _, names := range []*[]string{&t.Benchmarks, &t.Measures} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	values := make([]float64, len(t.Benchmarks)*len(t.Measures))
	for i := range values {
		values[i] = math.NaN()
	}
	for _, p := range points {
		if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			return nil, fmt.Errorf("benchmark %q, measure %q: the value %v", p.Benchmark, p.Measure, p.Value)
		}
		b, _ := slices.BinarySearch(t.Benchmarks, p.Benchmark)
		m, _ := slices.BinarySearch(t.Measures, p.Measure)
		v := &values[m*len(t.Benchmarks)+b]
		if !math.IsNaN(*v) {
			return nil, fmt.Errorf("measure %q: benchmark %q occurs twice", p.Measure, p.Benchmark)
		}
		*v = p.Value
	}
	line, _ := json.Marshal(t) // cannot fail: only text
	return binary.Append(append(line, '\n'), binary.LittleEndian, values)
}

// DecodePoints returns the points, sorted by measure, then benchmark.
func DecodePoints(data []byte) ([]baseline.Point, error) {
	line, values, _ := bytes.Cut(data, []byte("\n"))
	t, err := decodeTable(line)
	if err != nil {
		return nil, err
	}
	if err := t.fits(values); err != nil {
		return nil, err
	}
	var points []baseline.Point
	for m, measure := range t.Measures {
		for b, benchmark := range t.Benchmarks {
			if v := t.value(values, m, b); !math.IsNaN(v) {
				points = append(points, baseline.Point{Benchmark: benchmark, Measure: measure, Value: v})
			}
		}
	}
	return points, nil
}

func decodeTable(line []byte) (*table, error) {
	var t table
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, strictjson.Reword(err)
	}
	return &t, t.check()
}

func (t *table) check() error {
	for _, part := range []struct {
		what  string
		names []string
		most  int
	}{{"benchmark", t.Benchmarks, maxBenchmarks}, {"measure", t.Measures, maxMeasures}} {
		if len(part.names) > part.most {
			return fmt.Errorf("%d %ss are more than the %d that are plausible", len(part.names), part.what, part.most)
		}
		for i, name := range part.names {
			if err := baseline.CheckName(part.what, name); err != nil {
				return err
			}
			if i > 0 && cmp.Compare(name, part.names[i-1]) <= 0 {
				return fmt.Errorf("the %ss are not sorted", part.what)
			}
		}
	}
	if size := t.size(); size > maxPoints {
		return TooLarge(int64(size), maxPoints)
	}
	return nil
}

// size returns the size of the values, in bytes.
func (t *table) size() int { return 8 * len(t.Benchmarks) * len(t.Measures) }

// fits checks that values can be the values of the table.
func (t *table) fits(values []byte) error {
	if len(values) != t.size() {
		return fmt.Errorf("there are %d bytes of values instead of %d", len(values), t.size())
	}
	for i := 0; i < len(values); i += 8 {
		if math.IsInf(floatAt(values[i:]), 0) {
			return errors.New("a value is infinite")
		}
	}
	return nil
}

// value returns the measured value, or NaN.
func (t *table) value(values []byte, measure, benchmark int) float64 {
	return floatAt(values[8*(measure*len(t.Benchmarks)+benchmark):])
}

func floatAt(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
