package kernel

import (
	"path/filepath"
	"testing"
)

func TestWordsForKernels(t *testing.T) {
	root := t.TempDir()
	writeFiles(root, testFiles())
	image := filepath.Join(root, "boot", "vmlinuz-"+testRelease)
	for name, words := range map[string][]string{
		"packages":               {writeTemp(t, "a.deb", debOf(testFiles()))},
		"a packed kernel":        {writeTemp(t, "kernel", packed(testKernel()))},
		"an image with modules":  {image, root},
		"an image by a long way": {filepath.Join(root, "boot", "..", "boot", filepath.Base(image)), root},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := Load(t.Context(), words...)
			wantTestKernel(t, k, err)
		})
	}
	k, err := Load(t.Context(), image)
	if err != nil || k.Release != testRelease {
		t.Errorf("image alone: got %v, error %v", k, err)
	}
}

func TestWordsThatNameNoKernel(t *testing.T) {
	for want, words := range map[string][]string{
		`no kernel is called ""`:                   nil,
		`no kernel is called "nope"`:               {"nope"},
		`no kernel is called "6.12 7.2"`:           {"6.12", "7.2"},
		"no Debian suite has Linux 4.19":           {"4.19"},
		"nope.deb: no such file":                   {"nope.deb"},
		`get kernel of OCI image a b`:              {"oci:a b"},
		`no kernel is called "/dev/null /dev/null`: {"/dev/null", "/dev/null"},
	} {
		_, err := Load(t.Context(), words...)
		if err == nil {
			t.Errorf("%q: no error", words)
			continue
		}
		wantError(t, err, want)
	}
}
