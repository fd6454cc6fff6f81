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

// BenchmarkDecode measures the work in user space per sample, with a stack of
// 64 frames.
func BenchmarkDecode(b *testing.B) {
	stack := make([]uint64, 64)
	for i := range stack {
		stack[i] = 0x7f0000000000 + uint64(i)*0x40
	}
	raw := encode(b, header{Time: 1, PID: 2, TID: 3, StackLen: uint64(len(stack)) * addrSize}, stack...)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := decode(raw)
		if err != nil || len(r.Stack) != len(stack) {
			b.Fatal(len(r.Stack), err)
		}
	}
	b.ReportMetric(float64(len(stack)), "frames/op")
}
