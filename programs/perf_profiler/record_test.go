//go:build linux

package perfprofiler

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// encode writes a record as the program does.
func encode(tb testing.TB, h header, stack ...uint64) []byte {
	tb.Helper()
	var raw []byte
	for _, part := range []any{h, stack} {
		var err error
		if raw, err = binary.Append(raw, binary.NativeEndian, part); err != nil {
			tb.Fatal(err)
		}
	}
	return raw
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name string
		raw  []byte
		want []uint64
	}{
		{"whole stack", encode(t, header{1, 2, 3, 16}, 10, 11), []uint64{10, 11}},
		{"bytes left over", encode(t, header{1, 2, 3, 8}, 10, 11), []uint64{10}},
		{"no stack", encode(t, header{1, 2, 3, 0}, 10, 11), []uint64{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := decode(tc.raw)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Record{1, 2, 3, tc.want}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		raw  []byte
	}{
		{"nothing", nil},
		{"part of a header", encode(t, header{})[:10]},
		{"stack longer than the record", encode(t, header{StackLen: 24}, 10, 11)},
		{"part of an address", encode(t, header{StackLen: 9}, 10, 11)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := decode(tc.raw); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}
