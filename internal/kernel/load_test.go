package kernel

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestWordsForKernels(t *testing.T) {
	root := t.TempDir()
	imagetest.WriteFiles(root, imagetest.Installed())
	image := filepath.Join(root, "boot", "vmlinuz-"+imagetest.Release)
	for name, words := range map[string][]string{
		"packages":               {imagetest.WriteTemp(t, "a.deb", imagetest.Deb(imagetest.Installed()))},
		"a packed kernel":        {imagetest.WriteTemp(t, "kernel", packed(testKernel()))},
		"an image with modules":  {image, root},
		"an image by a long way": {filepath.Join(root, "boot", "..", "boot", filepath.Base(image)), root},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := Source{}.Load(t.Context(), words...)
			wantTestKernel(t, k, err)
		})
	}
	k, err := Source{}.Load(t.Context(), image)
	if err != nil || k.Release != imagetest.Release {
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
		"read kernel ./nope: no such file":         {"./nope"},
		"read kernel ../kernel: it is a folder":    {"../kernel"},
		"read kernel ./a: no such file":            {"./a", "./b"},
		"6 is not a version but many":              {"6"},
	} {
		_, err := Source{}.Load(t.Context(), words...)
		if err == nil {
			t.Errorf("%q: no error", words)
			continue
		}
		imagetest.WantError(t, err, want)
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v is not ErrUnknown", words, err)
		}
	}
}

// The check of a name in advance agrees with Load.
func TestANameIsCheckedInAdvance(t *testing.T) {
	c := newCache(t)
	if _, err := c.Add(kernelNamed("9.99.1-mine")); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	imagetest.WriteFiles(root, imagetest.Installed())
	vmlinuz := filepath.Join(root, "boot", "vmlinuz-"+imagetest.Release)
	pack := imagetest.WriteTemp(t, "kernel", packed(testKernel()))
	for _, name := range []string{"9.99", "9.99.1-mine", "6.12", "6.12.107", "7.99", "host", "trixie-backports", "oci:a/b", vmlinuz, pack} {
		if err := c.Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	junk := imagetest.WriteTemp(t, "junk", []byte("no kernel"))
	for _, name := range []string{"", "6", "9", "4.19", "6.11.5", "trixy", "./nowhere", "6.12 ", junk} {
		err := c.Check(name)
		if !errors.Is(err, ErrUnknown) || bench.Hint(err) == "" && name != junk {
			t.Errorf("%q: got %v, with the hint %q", name, err, bench.Hint(err))
			continue
		}
		if _, loaded := c.Resolve(t.Context(), name); loaded == nil || loaded.Error() != err.Error() || !errors.Is(loaded, ErrUnknown) {
			t.Errorf("%q: Check says %v, and Resolve %v", name, err, loaded)
		}
	}
}

// A lone major version could be any of several kernels, even if the cache happens to have
// one.
func TestAVersionHasTwoNumbers(t *testing.T) {
	c := newCache(t)
	for _, release := range []string{"6.1.0-1", "6.6.3", "6.6.9", "7.2.12"} {
		if _, err := c.Add(kernelNamed(release)); err != nil {
			t.Fatal(err)
		}
	}
	for name, series := range map[string]string{"6": "6.1 or 6.6 or 6.12", "7": "7.2", "8": "8.1"} {
		_, err := c.Resolve(t.Context(), name)
		imagetest.WantError(t, err, name+" is not a version but many")
		imagetest.WantHint(t, err, "name the series, such as "+series)
		if _, err := c.Remove(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s is removed, error %v", name, err)
		}
	}
}

// A file that is not a kernel is an unknown name, whatever it is.
func TestFilesThatAreNoKernels(t *testing.T) {
	good := packed(testKernel())
	for name, data := range map[string][]byte{
		"junk":              []byte("no kernel"),
		"an ELF object":     imagetest.Module("name=veth"),
		"an ELF program":    imagetest.Vmlinux("", nil),
		"a damaged ELF":     []byte("\x7fELF\x02\x01\x01"),
		"a compressed text": imagetest.Gzip([]byte("no kernel")),
		"a 32-bit kernel":   imagetest.Edited(imagetest.Bootable(), func(b []byte) { b[0x236] = 0 }),
		"a damaged pack":    good[:len(good)-1],
		"no.deb":            imagetest.Deb(imagetest.Files{"bin/sh": []byte("a shell")}),
	} {
		c := newCache(t)
		if _, err := c.Resolve(t.Context(), imagetest.WriteTemp(t, name, data)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	reference, _ := pushed(t, imagetest.Files{"bin/sh": []byte("a shell")})
	for _, ref := range []string{reference, reference + "-nope", "a b"} {
		if _, err := (Source{}).Load(t.Context(), "oci:"+ref); !errors.Is(err, ErrUnknown) {
			t.Errorf("oci:%s: got %v", ref, err)
		}
	}
	// A registry that cannot be reached may still have the image.
	if _, err := (Source{}).Load(t.Context(), "oci:127.0.0.1:1/linux:6.12"); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("without a registry: got %v", err)
	}
}
