//go:build linux

package perfprofiler

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
)

// encode writes a record as the program does.
func encode(h header, stack ...uint64) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.NativeEndian, h)
	binary.Write(&b, binary.NativeEndian, stack)
	return b.Bytes()
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name string
		raw  []byte
		want []uint64
	}{
		{"whole stack", encode(header{1, 2, 3, 16}, 10, 11), []uint64{10, 11}},
		{"bytes left over", encode(header{1, 2, 3, 8}, 10, 11), []uint64{10}},
		{"no stack", encode(header{1, 2, 3, 0}, 10, 11), []uint64{}},
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
		{"part of a header", encode(header{})[:10]},
		{"stack longer than the record", encode(header{StackLen: 24}, 10, 11)},
		{"part of an address", encode(header{StackLen: 9}, 10, 11)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := decode(tc.raw); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}
