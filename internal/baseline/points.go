package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The points of a run are stored by measure, so that a history of one measure
// skips the others, and of many runs with the same benchmarks reads their
// names once:
//
//	block of: number of benchmarks, their names as blocks, sorted
//	number of measures, of each, sorted by name:
//	    block of its name
//	    block of: number of values, of each how far its benchmark comes after
//	    the previous value's, then the values as floats
//
// The same points make the same bytes.

// encodePoints refuses points that could not be read back.
func encodePoints(points []Point) ([]byte, error) {
	points = slices.Clone(points)
	slices.SortFunc(points, comparePoints)
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = p.Benchmark
		if i > 0 && comparePoints(p, points[i-1]) == 0 {
			return nil, fmt.Errorf("measure %q: benchmark %q occurs twice", p.Measure, p.Benchmark)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	index := make(map[string]int, len(names))
	table := appendNumber(nil, len(names))
	for i, name := range names {
		index[name] = i
		table = appendBlock(table, name)
	}

	var columns []byte
	measures := 0
	for len(points) > 0 {
		n := slices.IndexFunc(points, func(p Point) bool { return p.Measure != points[0].Measure })
		if n < 0 {
			n = len(points)
		}
		columns = appendBlock(columns, points[0].Measure)
		columns = appendBlock(columns, encodeColumn(points[:n], index))
		measures++
		points = points[n:]
	}
	data := appendNumber(appendBlock(nil, table), measures)
	data = append(data, columns...)
	if _, err := decodePoints(data); err != nil {
		return nil, err
	}
	return data, nil
}

func comparePoints(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Benchmark, b.Benchmark))
}

// encodeColumn is the values of one measure, sorted by benchmark.
func encodeColumn(points []Point, index map[string]int) []byte {
	b := appendNumber(nil, len(points))
	previous := -1
	for _, p := range points {
		b = appendNumber(b, index[p.Benchmark]-previous)
		previous = index[p.Benchmark]
	}
	for _, p := range points {
		b = appendFloat(b, p.Value)
	}
	return b
}

// decodePoints is the points, sorted.
func decodePoints(data []byte) ([]Point, error) {
	table, columns, err := splitPoints(data)
	if err != nil {
		return nil, err
	}
	names, err := decodeNames(table)
	if err != nil {
		return nil, err
	}
	var points []Point
	for _, c := range columns {
		col, err := decodeColumn(c.block, len(names))
		if err != nil {
			return nil, fmt.Errorf("measure %q: %w", c.measure, err)
		}
		for i, b := range col.benchmarks {
			points = append(points, Point{names[b], c.measure, floatAt(col.values, i)})
		}
	}
	return points, nil
}

// column is the block of one measure, not looked into.
type column struct {
	measure string
	block   []byte
}

// splitPoints finds the parts of the points of a run.
func splitPoints(data []byte) (table []byte, columns []column, err error) {
	r := reader{data: data}
	table = r.block(len(data))
	for range r.number("measures", maxMeasures) {
		c := column{string(r.block(maxName)), r.block(len(data))}
		if r.err == nil && len(columns) > 0 && c.measure <= columns[len(columns)-1].measure {
			return nil, nil, errors.New("the measures are not sorted")
		}
		if r.err == nil {
			r.err = checkName("measure", c.measure)
		}
		if r.err != nil {
			break
		}
		columns = append(columns, c)
	}
	if err := r.end(); err != nil {
		return nil, nil, err
	}
	return table, columns, nil
}

// decodeNames is the names of the benchmarks.
func decodeNames(table []byte) ([]string, error) {
	r := reader{data: table}
	var names []string
	for range r.number("benchmarks", maxBenchmarks) {
		name := string(r.block(maxName))
		if r.err == nil {
			r.err = checkName("benchmark", name)
		}
		if r.err != nil {
			break
		}
		if len(names) > 0 && name <= names[len(names)-1] {
			return nil, errors.New("the benchmarks are not sorted")
		}
		names = append(names, name)
	}
	return names, r.end()
}

// values is what a column holds: value i, a float, is of benchmarks[i].
type values struct {
	benchmarks []int
	values     []byte
}

// decodeColumn is the values of one measure of no more than n benchmarks.
func decodeColumn(block []byte, n int) (values, error) {
	r := reader{data: block}
	var v values
	v.benchmarks = make([]int, r.number("values", n))
	previous := -1
	for i := range v.benchmarks {
		step := r.number("benchmarks", n)
		if previous += step; r.err == nil && (step == 0 || previous >= n) {
			return values{}, errors.New("a benchmark occurs twice, or there is none")
		}
		v.benchmarks[i] = previous
	}
	v.values = r.take(8 * len(v.benchmarks))
	if err := r.end(); err != nil {
		return values{}, err
	}
	for i := range v.benchmarks {
		if f := floatAt(v.values, i); math.IsNaN(f) || math.IsInf(f, 0) {
			return values{}, fmt.Errorf("the value %v", f)
		}
	}
	return v, nil
}
