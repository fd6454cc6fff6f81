package suite

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

// The outline of a suite can be read without its objects.
func TestOutline(t *testing.T) {
	const text = "version: 1\nobjects: [nowhere.o]\nkernels: [\"6.1\", \"6.12\"]\nthresholds: ../team.yml\nbenchmarks: [{name: a, program: a, test_run: {}}]\n"
	fsys := fstest.MapFS{
		"bpf/suite.yml": {Data: []byte(text)},
		"wrong.yml":     {Data: []byte("version: 1\nthreshold: x.yml\n")},
		"huge.yml":      {Data: bytes.Repeat([]byte("#"), maxOutline+1)},
	}
	o, err := ReadOutline(fsys, "bpf/suite.yml")
	if err != nil || o.Thresholds != "team.yml" || !slices.Equal(o.Kernels, []string{"6.1", "6.12"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := ReadOutline(fsys, "nowhere.yml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, name := range []string{"wrong.yml", "huge.yml"} {
		if o, err := ReadOutline(fsys, name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}
