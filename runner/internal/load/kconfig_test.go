package load

import (
	"bytes"
	"testing"

	"github.com/cilium/ebpf/btf"
)

func TestSettingsAsVariablesHaveThem(t *testing.T) {
	var (
		boolean  = &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
		char     = &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
		number   = &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
		long     = &btf.Const{Type: &btf.Int{Name: "unsigned long", Size: 8}}
		tristate = &btf.Enum{Name: "libbpf_tristate", Size: 4}
		text     = &btf.Array{Type: char, Nelems: 4}
	)
	for _, c := range []struct {
		typ  btf.Type
		size int
		text string
		want []byte // nil for a refusal
	}{
		{boolean, 1, "y", []byte{1}},
		{boolean, 1, "n", []byte{0}},
		{boolean, 1, "1", []byte{1}},
		{boolean, 1, "m", nil},
		{boolean, 1, "2", nil},
		{char, 1, "m", []byte{'m'}},
		{char, 1, "-7", []byte{0xf9}},
		{number, 4, "y", nil},
		{number, 4, "250", []byte{250, 0, 0, 0}},
		{number, 4, "-1", []byte{255, 255, 255, 255}},
		{number, 4, "0x1ffffffff", nil},
		{number, 4, `"250"`, nil},
		{long, 8, "0xdead000000000000", []byte{0, 0, 0, 0, 0, 0, 0xad, 0xde}},
		{tristate, 4, "m", []byte{2, 0, 0, 0}},
		{tristate, 4, "1", nil},
		{text, 4, `"ab"`, []byte{'a', 'b', 0, 0}},
		{text, 4, `"abcdef"`, []byte{'a', 'b', 'c', 0}},
		{text, 4, "y", nil},
		{text, 4, `"`, nil},
		{&btf.Pointer{Target: number}, 8, "1", nil},
	} {
		got := make([]byte, c.size)
		err := encodeSetting(got, c.typ, c.text)
		if (err == nil) != (c.want != nil) || err == nil && !bytes.Equal(got, c.want) {
			t.Errorf("%s as %v: %v, %v, want %v", c.text, c.typ, got, err, c.want)
		}
	}
}
