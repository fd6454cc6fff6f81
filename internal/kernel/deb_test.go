package kernel

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

// wantTestKernel checks that k is the kernel of imagetest.Installed.
func wantTestKernel(t *testing.T, k *Kernel, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if k.Release != imagetest.Release || k.Arch != "amd64" || string(k.Config) != "CONFIG_BPF=y\n" {
		t.Errorf("got release %q, arch %q, config %q", k.Release, k.Arch, k.Config)
	}
	vmlinux, err := k.Vmlinux()
	if err != nil || !bytes.Equal(vmlinux, imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
		t.Errorf("vmlinux has %d bytes, error %v", len(vmlinux), err)
	}
	modules, missing, err := k.Modules("veth", "cls_bpf", "virtio_pci")
	if got := fmt.Sprint(moduleNames(modules)); err != nil || len(missing) > 0 || got != "[veth b_part a cls_bpf]" {
		t.Errorf("modules %s, missing %v, error %v", got, missing, err)
	}
}

func TestAKernelOfOneDeb(t *testing.T) {
	k, err := FromDebs(imagetest.WriteTemp(t, "linux-image.deb", imagetest.Deb(imagetest.Installed())))
	wantTestKernel(t, k, err)
	if k.Origin != "linux-image.deb" {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestAKernelOfSplitDebs(t *testing.T) {
	binary, base, modules := imagetest.Split()
	k, err := FromDebs(
		imagetest.WriteTemp(t, "linux-binary.deb", imagetest.Deb(binary)),
		imagetest.WriteTemp(t, "linux-base.deb", imagetest.Deb(base)),
		imagetest.WriteTemp(t, "linux-modules.deb", imagetest.Deb(modules)))
	wantTestKernel(t, k, err)
	if k.Origin != "linux-binary.deb, linux-base.deb, linux-modules.deb" {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestPackagesThatAreMissingAreNamed(t *testing.T) {
	binary, base, modules := imagetest.Split()
	other := imagetest.Files{}
	for name, data := range modules {
		other[strings.ReplaceAll(name, imagetest.Release, "6.12.99-other")] = data
	}
	for name, tc := range map[string]struct {
		debs       []imagetest.Files
		want, hint string
	}{
		"the image's": {[]imagetest.Files{modules}, "no kernel image", "together with its image, the package linux-binary-" + imagetest.Release + ", or linux-image-" + imagetest.Release},
		"both":        {[]imagetest.Files{base}, "no kernel image", "give linux-base-RELEASE, linux-binary-RELEASE and linux-modules-RELEASE together"},
		"the modules' of that release": {[]imagetest.Files{binary, other},
			"the image is of Linux " + imagetest.Release + ", the modules are of 6.12.99-other", "packages of one release"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for i, f := range tc.debs {
				names = append(names, imagetest.WriteTemp(t, fmt.Sprintf("%d.deb", i), imagetest.Deb(f)))
			}
			_, err := Source{}.Load(t.Context(), names...)
			imagetest.WantError(t, err, tc.want)
			imagetest.WantHint(t, err, tc.hint)
		})
	}
	// A kernel with all that takes no module is one as well.
	k, err := FromDebs(imagetest.WriteTemp(t, "linux-binary.deb", imagetest.Deb(binary)))
	if err != nil || k.Release != imagetest.Release {
		t.Errorf("the image alone: got %v, error %v", k, err)
	}
}

func TestDataOfADeb(t *testing.T) {
	data := imagetest.Tar(imagetest.Installed())
	for name, deb := range map[string][]byte{
		"plain": imagetest.Ar("debian-binary", []byte("2.0\n"), "data.tar", data),
		"gzip":  imagetest.Ar("debian-binary", []byte("2.0\n"), "data.tar.gz", imagetest.Gzip(data)),
		"zstd":  imagetest.Ar("debian-binary/", []byte("2.0\n"), "data.tar.zst/", imagetest.Zstd(data)),
		"xz":    imagetest.Ar("odd", []byte("odd"), "data.tar.xz", imagetest.XZ(data)),
	} {
		t.Run(name, func(t *testing.T) {
			k, err := FromDebs(imagetest.WriteTemp(t, "a.deb", deb))
			wantTestKernel(t, k, err)
		})
	}
}

func tarNamed(name string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	imagetest.Check(w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}))
	imagetest.Check(w.Close())
	return b.Bytes()
}

func TestDebsThatAreRefused(t *testing.T) {
	good := imagetest.Deb(imagetest.Installed())
	two := imagetest.Installed()
	vmlinux := imagetest.Vmlinux("5.10.0", imagetest.PVHNote)
	two["boot/vmlinuz-5.10.0"] = imagetest.BzImage("5.10.0", vmlinux, imagetest.Gzip(vmlinux))
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":     {nil, "not a .deb: not an ar archive"},
		"a text":            {[]byte("This is a text."), "not a .deb: not an ar archive"},
		"no data":           {imagetest.Ar("debian-binary", []byte("2.0\n")), "not a .deb: it has no data.tar"},
		"a damaged header":  {imagetest.Edited(good, func(b []byte) { b[8+58] = 'x' }), "ar header is damaged"},
		"a negative size":   {imagetest.Edited(good, func(b []byte) { copy(b[8+48:], "-1") }), "size in ar header"},
		"a huge size":       {imagetest.Edited(good, func(b []byte) { copy(b[8+48:], "9999999999") }), "unexpected EOF"},
		"no compression":    {imagetest.Ar("data.tar.xz", []byte("this is no xz")), "unpack data.tar.xz: compressed in an unknown way"},
		"a path upwards":    {imagetest.Ar("data.tar", tarNamed("../boot/vmlinuz")), `hostile: it names a file "../boot/vmlinuz"`},
		"a path up and in":  {imagetest.Ar("data.tar", tarNamed("./boot/../../etc/vmlinuz")), "hostile"},
		"no kernel":         {imagetest.Deb(imagetest.Files{"usr/bin/true": []byte("ELF")}), "no kernel image: neither boot/vmlinuz-* nor lib/modules/*/vmlinuz"},
		"a file for kernel": {imagetest.Deb(imagetest.Files{"boot/vmlinuz-6.1": []byte("MZ, or not")}), "read boot/vmlinuz-6.1: not a Linux kernel image"},
		"two kernels":       {imagetest.Deb(two), "several kernels: 5.10.0, " + imagetest.Release},
	} {
		t.Run(name, func(t *testing.T) {
			file := imagetest.WriteTemp(t, "a.deb", tc.data)
			_, err := FromDebs(file)
			imagetest.WantError(t, err, file, tc.want)
		})
	}
}

func TestATruncatedDebIsRefusedWhereverItEnds(t *testing.T) {
	deb := imagetest.Deb(imagetest.Installed())
	for n := 0; n < len(deb)-1; n += 7 {
		if err := newUnpacked().addDeb(bytes.NewReader(deb[:n])); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(deb))
		}
	}
}

// promise is a tar archive of one file that has fewer bytes than it promises.
func promise(size int64) io.Reader {
	var b bytes.Buffer
	imagetest.Check(tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "boot/vmlinuz", Size: size, Typeflag: tar.TypeReg}))
	return &b
}

func TestAnArchiveThatIsTooLarge(t *testing.T) {
	imagetest.WantError(t, newUnpacked().addTar(promise(untrusted.MaxKept+1)), "boot/vmlinuz: larger than the 1024 MiB")
	imagetest.WantError(t, newUnpacked().addTar(promise(untrusted.MaxKept)), "boot/vmlinuz: unexpected EOF")
	imagetest.WantError(t, newUnpacked().addTar(promise(math.MaxInt64)), "boot/vmlinuz: larger than the 1024 MiB")
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

	u := newUnpacked()
	if err := u.addTar(&b); err != nil {
		t.Fatal(err)
	}
	k, err := u.tree().load("")
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
	f.Add(imagetest.Ar("data.tar.zst", imagetest.Zstd(tarNamed("../x"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		u := newUnpacked()
		if err := u.addDeb(bytes.NewReader(data)); err != nil {
			return
		}
		for name := range u.files {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("file %q", name)
			}
		}
		u.tree().load("") // it must only not panic
	})
}
