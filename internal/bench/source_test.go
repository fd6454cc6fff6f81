package bench

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{"bpf/fun_xdp.bpf.c", 41, "fun_xdp_basic"}, ""},
		{Source{"/src/größe.rs", 1<<22 - 1, ""}, ""},
		{Source{long(4096), 1, long(512)}, ""},
		{Source{"", 1, "f"}, "no file"},
		{Source{"a.c", 0, "f"}, "line 0"},
		{Source{"a.c", -1, "f"}, "line -1"},
		{Source{"a.c", 1 << 22, "f"}, "line 4194304"},
		{Source{long(4097), 1, "f"}, "too long"},
		{Source{"a.c", 1, long(513)}, "too long"},
		{Source{"a.c\n::error::x", 1, "f"}, "cannot be printed"},
		{Source{"a.c", 1, "f\x1b[31m"}, "cannot be printed"},
		{Source{"a\u202ec", 1, "f"}, "cannot be printed"},
		{Source{"a.c", 1, "\xff"}, "cannot be printed"},
	} {
		var err error
		if err = c.source.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+.20v: %v, want %q", c.source, err, c.want)
		}
		run := sampleRun()
		run.Results[0].Source = &c.source
		var b bytes.Buffer
		if err := EncodeRuns(&b, run); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.source.Function, "\xff") {
			continue // JSON cannot represent it
		}
		back, decodeErr := DecodeRun(&b)
		if (decodeErr == nil) != (err == nil) {
			t.Errorf("%+.20v: decoded with %v", c.source, decodeErr)
		}
		if decodeErr == nil && !reflect.DeepEqual(back.Results[0].Source, &c.source) {
			t.Errorf("%+v became %+v", c.source, back.Results[0].Source)
		}
	}
}
