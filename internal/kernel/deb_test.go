package kernel

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// wantTestKernel checks that k is the kernel of testFiles.
func wantTestKernel(t *testing.T, k *Kernel, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if k.Release != testRelease || k.Arch != "amd64" || string(k.Config) != "CONFIG_BPF=y\n" {
		t.Errorf("got release %q, arch %q, config %q", k.Release, k.Arch, k.Config)
	}
	vmlinux, err := k.Vmlinux()
	if err != nil || !bytes.Equal(vmlinux, vmlinuxOf(testRelease, pvhNote)) {
		t.Errorf("vmlinux has %d bytes, error %v", len(vmlinux), err)
	}
	modules, missing, err := k.Modules("veth", "cls_bpf", "virtio_pci")
	if got := fmt.Sprint(moduleNames(modules)); err != nil || len(missing) > 0 || got != "[veth b_part a cls_bpf]" {
		t.Errorf("modules %s, missing %v, error %v", got, missing, err)
	}
}

func TestAKernelOfOneDeb(t *testing.T) {
	k, err := FromDebs(writeTemp(t, "linux-image.deb", debOf(testFiles())))
	wantTestKernel(t, k, err)
	if k.Origin != "linux-image.deb" {
		t.Errorf("origin is %q", k.Origin)
	}
}

// splitFiles is the kernel of testFiles as Debian splits it over packages.
func splitFiles() (binary, base, modules files) {
	binary, base, modules = files{}, files{}, files{}
	for name, data := range testFiles() {
		name = strings.NewReplacer(
			"boot/vmlinuz-"+testRelease, "usr/lib/modules/"+testRelease+"/vmlinuz",
			"boot/config-"+testRelease, "usr/lib/modules/"+testRelease+"/config",
		).Replace(name)
		switch {
		case strings.Contains(name, "vmlinuz"):
			binary[name] = data
		case strings.Contains(name, ".ko"):
			modules[name] = data
		default:
			base[name] = data
		}
	}
	return binary, base, modules
}

func TestAKernelOfSplitDebs(t *testing.T) {
	binary, base, modules := splitFiles()
	k, err := FromDebs(
		writeTemp(t, "linux-binary.deb", debOf(binary)),
		writeTemp(t, "linux-base.deb", debOf(base)),
		writeTemp(t, "linux-modules.deb", debOf(modules)))
	wantTestKernel(t, k, err)
	if k.Origin != "linux-binary.deb, linux-base.deb, linux-modules.deb" {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestPackagesThatAreMissingAreNamed(t *testing.T) {
	binary, base, modules := splitFiles()
	other := files{}
	for name, data := range modules {
		other[strings.ReplaceAll(name, testRelease, "6.12.99-other")] = data
	}
	for name, tc := range map[string]struct {
		debs       []files
		want, hint string
	}{
		"the image's": {[]files{modules}, "no kernel image", "together with its image, the package linux-binary-" + testRelease + ", or linux-image-" + testRelease},
		"both":        {[]files{base}, "no kernel image", "give linux-base-RELEASE, linux-binary-RELEASE and linux-modules-RELEASE together"},
		"the modules' of that release": {[]files{binary, other},
			"the image is of Linux " + testRelease + ", the modules are of 6.12.99-other", "packages of one release"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for i, f := range tc.debs {
				names = append(names, writeTemp(t, fmt.Sprintf("%d.deb", i), debOf(f)))
			}
			_, err := Source{}.Load(t.Context(), names...)
			wantError(t, err, tc.want)
			wantHint(t, err, tc.hint)
		})
	}
	// A kernel with all that takes no module is one as well.
	k, err := FromDebs(writeTemp(t, "linux-binary.deb", debOf(binary)))
	if err != nil || k.Release != testRelease {
		t.Errorf("the image alone: got %v, error %v", k, err)
	}
}

func TestDataOfADeb(t *testing.T) {
	data := tarOf(testFiles())
	for name, deb := range map[string][]byte{
		"plain": arOf("debian-binary", []byte("2.0\n"), "data.tar", data),
		"gzip":  arOf("debian-binary", []byte("2.0\n"), "data.tar.gz", gzipped(data)),
		"zstd":  arOf("debian-binary/", []byte("2.0\n"), "data.tar.zst/", zstdCompressed(data)),
		"xz":    arOf("odd", []byte("odd"), "data.tar.xz", xzCompressed(data)),
	} {
		t.Run(name, func(t *testing.T) {
			k, err := FromDebs(writeTemp(t, "a.deb", deb))
			wantTestKernel(t, k, err)
		})
	}
}

func tarNamed(name string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	check(w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}))
	check(w.Close())
	return b.Bytes()
}

func TestDebsThatAreRefused(t *testing.T) {
	good := debOf(testFiles())
	two := testFiles()
	vmlinux := vmlinuxOf("5.10.0", pvhNote)
	two["boot/vmlinuz-5.10.0"] = bzImageOf("5.10.0", vmlinux, gzipped(vmlinux))
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":     {nil, "not a .deb: not an ar archive"},
		"a text":            {[]byte("This is a text."), "not a .deb: not an ar archive"},
		"no data":           {arOf("debian-binary", []byte("2.0\n")), "not a .deb: it has no data.tar"},
		"a damaged header":  {edited(good, func(b []byte) { b[8+58] = 'x' }), "ar header is damaged"},
		"a negative size":   {edited(good, func(b []byte) { copy(b[8+48:], "-1") }), "size in ar header"},
		"a huge size":       {edited(good, func(b []byte) { copy(b[8+48:], "9999999999") }), "unexpected EOF"},
		"no compression":    {arOf("data.tar.xz", []byte("this is no xz")), "unpack data.tar.xz: compressed in an unknown way"},
		"a path upwards":    {arOf("data.tar", tarNamed("../boot/vmlinuz")), `hostile: it names a file "../boot/vmlinuz"`},
		"a path up and in":  {arOf("data.tar", tarNamed("./boot/../../etc/vmlinuz")), "hostile"},
		"no kernel":         {debOf(files{"usr/bin/true": []byte("ELF")}), "no kernel image: neither boot/vmlinuz-* nor lib/modules/*/vmlinuz"},
		"a file for kernel": {debOf(files{"boot/vmlinuz-6.1": []byte("MZ, or not")}), "read boot/vmlinuz-6.1: not a Linux kernel image"},
		"two kernels":       {debOf(two), "several kernels: 5.10.0, " + testRelease},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeTemp(t, "a.deb", tc.data)
			_, err := FromDebs(file)
			wantError(t, err, file, tc.want)
		})
	}
}

func TestATruncatedDebIsRefusedWhereverItEnds(t *testing.T) {
	deb := debOf(testFiles())
	for n := 0; n < len(deb)-1; n += 7 {
		if err := newUnpacked().addDeb(bytes.NewReader(deb[:n])); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(deb))
		}
	}
}

// promise is a tar archive of one file that has fewer bytes than it promises.
func promise(size int64) io.Reader {
	var b bytes.Buffer
	check(tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "boot/vmlinuz", Size: size, Typeflag: tar.TypeReg}))
	return &b
}

func TestAnArchiveThatIsTooLarge(t *testing.T) {
	wantError(t, newUnpacked().addTar(promise(maxKept+1)), "boot/vmlinuz: larger than the 1024 MiB")
	wantError(t, newUnpacked().addTar(promise(maxKept)), "boot/vmlinuz: unexpected EOF")
	wantError(t, newUnpacked().addTar(promise(math.MaxInt64)), "boot/vmlinuz: larger than the 1024 MiB")
}

func TestLinksInAnArchive(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	file := func(name string, data []byte) {
		check(w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Typeflag: tar.TypeReg}))
		must(w.Write(data))
	}
	file("/lib/modules/"+testRelease+"/vmlinuz", testBzImage())
	for _, link := range []tar.Header{
		{Name: "boot/vmlinuz-a", Linkname: "/usr/lib/modules/" + testRelease + "/vmlinuz", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-b", Linkname: "vmlinuz-a", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-c", Linkname: "boot/vmlinuz-b", Typeflag: tar.TypeLink},
		{Name: "boot/vmlinuz-d", Linkname: "../../../etc/shadow", Typeflag: tar.TypeSymlink},
		{Name: "boot/vmlinuz-e", Linkname: "vmlinuz-e", Typeflag: tar.TypeSymlink},
	} {
		check(w.WriteHeader(&link))
	}
	check(w.Close())

	u := newUnpacked()
	if err := u.addTar(&b); err != nil {
		t.Fatal(err)
	}
	k, err := u.tree().load("")
	if err != nil || k.Release != testRelease {
		t.Fatalf("got %v, error %v", k, err)
	}
	want := "[boot/vmlinuz-a boot/vmlinuz-b boot/vmlinuz-c lib/modules/" + testRelease + "/vmlinuz]"
	if got := fmt.Sprint(u.tree().names); got != want {
		t.Errorf("files %s", got)
	}
}

func FuzzDeb(f *testing.F) {
	f.Add(debOf(testFiles()))
	f.Add(arOf("data.tar", tarOf(testFiles())))
	f.Add(arOf("data.tar.zst", zstdCompressed(tarNamed("../x"))))
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
