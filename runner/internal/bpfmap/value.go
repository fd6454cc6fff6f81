package bpfmap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// SetGlobals writes the suite's values into the spec's global variables.
func SetGlobals(spec *ebpf.CollectionSpec, globals map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(globals)) {
		v := spec.Variables[name]
		if v == nil {
			have := slices.Sorted(maps.Keys(spec.Variables))
			return fmt.Errorf("the program uses no global %q%s: it uses %s", name, strictyaml.DidYouMean(name, have), listed(have))
		}
		value, err := encodeValue(globals[name], int(v.Size()))
		if err != nil {
			return fmt.Errorf("global %s: %w", name, err)
		}
		if err := v.Set(value); err != nil {
			return fmt.Errorf("set global %s: %w", name, err)
		}
	}
	return nil
}

// encodeValue turns a value of the suite file into size bytes: an integer or
// bool in the machine's byte order, or the bytes that a string of hex digits
// spells.
func encodeValue(value any, size int) ([]byte, error) {
	switch v := value.(type) {
	case bool:
		if v {
			return EncodeInt(1, false, size)
		}
		return EncodeInt(0, false, size)
	case int:
		return EncodeInt(uint64(v), v < 0, size)
	case int64:
		return EncodeInt(uint64(v), v < 0, size)
	case uint64:
		return EncodeInt(v, false, size)
	case string:
		b, err := hex.DecodeString(strings.NewReplacer(" ", "", ":", "").Replace(strings.TrimPrefix(v, "0x")))
		if err != nil {
			return nil, fmt.Errorf("%q is not an integer and no string of hex digits", v)
		}
		if len(b) != size {
			return nil, fmt.Errorf("%q has %d bytes, not %d", v, len(b), size)
		}
		return b, nil
	case float64:
		if v == math.Trunc(v) {
			return nil, fmt.Errorf("%g does not fit into 64 bits", v)
		}
	case nil:
		return nil, fmt.Errorf("no value: it takes %d bytes", size)
	}
	return nil, fmt.Errorf("%v is not an integer, bool or string of hex digits", value)
}

// EncodeInt returns an integer as size bytes in the machine's byte order, or an
// error if it does not fit.
func EncodeInt(v uint64, negative bool, size int) ([]byte, error) {
	if size < 8 {
		bits := 8 * size
		low, high := int64(math.MinInt64)>>(64-bits), uint64(1)<<bits-1
		if negative && int64(v) < low || !negative && v > high {
			return nil, fmt.Errorf("%d does not fit %d bytes", int64(v), size)
		}
	}
	b := make([]byte, 8)
	binary.NativeEndian.PutUint64(b, v)
	switch size {
	case 1, 2, 4, 8:
	default:
		return nil, fmt.Errorf("it has %d bytes, which no integer has: write them as hex digits", size)
	}
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		return b[8-size:], nil
	}
	return b[:size], nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
