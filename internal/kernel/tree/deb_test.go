package tree

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

func TestATruncatedDebIsRefusedWhereverItEnds(t *testing.T) {
	deb := imagetest.Deb(imagetest.Installed())
	for n := 0; n < len(deb)-1; n += 7 {
		if err := NewArchive().AddDeb(bytes.NewReader(deb[:n])); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(deb))
		}
	}
}

// promise returns a tar archive of one file with fewer bytes than its header promises.
func promise(size int64) io.Reader {
	var b bytes.Buffer
	imagetest.Check(tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "boot/vmlinuz", Size: size, Typeflag: tar.TypeReg}))
	return &b
}

func TestAnArchiveThatIsTooLarge(t *testing.T) {
	imagetest.WantError(t, NewArchive().AddTar(promise(untrusted.MaxKept+1)), "boot/vmlinuz: larger than the 1024 MiB")
	imagetest.WantError(t, NewArchive().AddTar(promise(untrusted.MaxKept)), "boot/vmlinuz: unexpected EOF")
	imagetest.WantError(t, NewArchive().AddTar(promise(math.MaxInt64)), "boot/vmlinuz: larger than the 1024 MiB")
}

func TestLinksInAnArchive(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	file := func(name string, data []byte) {
		imagetest.Check(w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Typeflag: tar.TypeReg}))
		imagetest.Must(w.Write(data))
	}
	file("/lib/modules/"+imagetest.Release+"/vmlinuz", imagetest.Bootable())
	for _, link := range []tar.Header{
		{Name: "boot/vmlinuz-a", Linkname: "/usr/lib/modules/" + imagetest.Release + "/vmlinuz", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-b", Linkname: "vmlinuz-a", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-c", Linkname: "boot/vmlinuz-b", Typeflag: tar.TypeLink},
		{Name: "boot/vmlinuz-d", Linkname: "../../../etc/shadow", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-e", Linkname: "vmlinuz-e", Typeflag: tar.TypeSymlink},
	} {
		imagetest.Check(w.WriteHeader(&link))
	}
	imagetest.Check(w.Close())

	u := NewArchive()
	if err := u.AddTar(&b); err != nil {
		t.Fatal(err)
	}
	k, err := u.tree().find("")
	if err != nil || k.Release != imagetest.Release {
		t.Fatalf("got %v, error %v", k, err)
	}
	want := "[boot/vmlinuz-a boot/vmlinuz-b boot/vmlinuz-c lib/modules/" + imagetest.Release + "/vmlinuz]"
	if got := fmt.Sprint(u.tree().names); got != want {
		t.Errorf("files %s", got)
	}
}

func FuzzDeb(f *testing.F) {
	f.Add(imagetest.Deb(imagetest.Installed()))
	f.Add(imagetest.Ar("data.tar", imagetest.Tar(imagetest.Installed())))
	f.Add(imagetest.Ar("data.tar.zst", imagetest.Zstd(imagetest.TarNamed("../x"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		u := NewArchive()
		if err := u.AddDeb(bytes.NewReader(data)); err != nil {
			return
		}
		for name := range u.files {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("file %q", name)
			}
		}
		u.tree().find("") // it must only not panic
	})
}
