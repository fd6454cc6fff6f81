package kernel

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
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
	vmlinux, err := k.vmlinux()
	if err != nil || !bytes.Equal(vmlinux, imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)) {
		t.Errorf("vmlinux has %d bytes, error %v", len(vmlinux), err)
	}
	modules, missing, err := k.Modules("veth", "cls_bpf", "virtio_pci")
	if got := fmt.Sprint(moduleNames(modules)); err != nil || len(missing) > 0 || got != "[veth b_part a cls_bpf]" {
		t.Errorf("modules %s, missing %v, error %v", got, missing, err)
	}
}

func TestAKernelOfOneDeb(t *testing.T) {
	k, err := fromDebs(imagetest.WriteTemp(t, "linux-image.deb", imagetest.Deb(imagetest.Installed())))
	wantTestKernel(t, k, err)
	if k.Origin != "linux-image.deb" {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestAKernelOfSplitDebs(t *testing.T) {
	binary, base, modules := imagetest.Split()
	k, err := fromDebs(
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
			"the image is Linux " + imagetest.Release + ", the modules are for 6.12.99-other", "packages of one release"},
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
	// An image without any modules is a kernel as well.
	k, err := fromDebs(imagetest.WriteTemp(t, "linux-binary.deb", imagetest.Deb(binary)))
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
			k, err := fromDebs(imagetest.WriteTemp(t, "a.deb", deb))
			wantTestKernel(t, k, err)
		})
	}
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
		"no compression":    {imagetest.Ar("data.tar.xz", []byte("this is not an xz file")), "unpack data.tar.xz: compressed in an unknown way"},
		"a path upwards":    {imagetest.Ar("data.tar", imagetest.TarNamed("../boot/vmlinuz")), `hostile: it names a file "../boot/vmlinuz"`},
		"a path up and in":  {imagetest.Ar("data.tar", imagetest.TarNamed("./boot/../../etc/vmlinuz")), "hostile"},
		"no kernel":         {imagetest.Deb(imagetest.Files{"usr/bin/true": []byte("ELF")}), "no kernel image: neither boot/vmlinuz-* nor lib/modules/*/vmlinuz"},
		"a file for kernel": {imagetest.Deb(imagetest.Files{"boot/vmlinuz-6.1": []byte("MZ, or not")}), "read boot/vmlinuz-6.1: not a Linux kernel image"},
		"two kernels":       {imagetest.Deb(two), "several kernels: 5.10.0, " + imagetest.Release},
	} {
		t.Run(name, func(t *testing.T) {
			file := imagetest.WriteTemp(t, "a.deb", tc.data)
			_, err := fromDebs(file)
			imagetest.WantError(t, err, file, tc.want)
		})
	}
}

func TestAKernelOfFiles(t *testing.T) {
	root := t.TempDir()
	imagetest.WriteFiles(root, imagetest.Installed())
	image := filepath.Join(root, "boot", "vmlinuz-"+imagetest.Release)
	for name, modules := range map[string]string{
		"the modules' own folder": filepath.Join(root, "usr/lib/modules", imagetest.Release),
		"the folder of releases":  filepath.Join(root, "usr/lib/modules"),
		"the root":                root,
	} {
		t.Run(name, func(t *testing.T) {
			k, err := fromFiles(image, modules)
			wantTestKernel(t, k, err)
		})
	}
}

func TestAKernelOfABuildTree(t *testing.T) {
	root := t.TempDir()
	imagetest.WriteFiles(root, imagetest.Files{
		"vmlinux":              imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote),
		".config":              []byte("CONFIG_BPF=y\n"),
		"System.map":           []byte("ffffffff81000000 T _text\n"),
		"modules.builtin":      []byte("kernel/net/ipv4/tcp.ko\n"),
		"drivers/net/veth.ko":  imagetest.ModuleNamed("veth"),
		"net/sched/cls_bpf.ko": imagetest.ModuleNamed("cls_bpf", "tcp"),
	})
	k, err := fromFiles(filepath.Join(root, "vmlinux"), root)
	if err != nil {
		t.Fatal(err)
	}
	modules, missing, err := k.Modules("veth", "cls_bpf")
	if err != nil || len(missing) > 0 || len(modules) != 2 {
		t.Errorf("modules %v, missing %v, error %v", moduleNames(modules), missing, err)
	}
	if k.Config == nil || k.systemMap == nil {
		t.Errorf("config %q, System.map %q", k.Config, k.systemMap)
	}
}

func TestAnImageWithoutModules(t *testing.T) {
	k, err := fromFiles(imagetest.WriteTemp(t, "vmlinuz", imagetest.Bootable()), "")
	if err != nil {
		t.Fatal(err)
	}
	modules, missing, err := k.Modules("veth")
	if err != nil || len(modules) > 0 || len(missing) != 1 {
		t.Errorf("modules %v, missing %v, error %v", moduleNames(modules), missing, err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	text := imagetest.WriteTemp(t, "vmlinuz", []byte("This is a text."))
	_, err := fromFiles(text, "")
	imagetest.WantError(t, err, "read kernel "+text+": not a Linux kernel image")

	_, err = fromFiles(filepath.Join(t.TempDir(), "nope"), "")
	imagetest.WantError(t, err, "read kernel", "no such file")

	image := imagetest.WriteTemp(t, "vmlinuz", imagetest.Bootable())
	_, err = fromFiles(image, filepath.Join(t.TempDir(), "nope"))
	imagetest.WantError(t, err, "read modules in", "no such file")
}

// mapFS returns f as a file system.
func mapFS(f imagetest.Files) fstest.MapFS {
	root := fstest.MapFS{}
	for name, data := range f {
		root[name] = &fstest.MapFile{Data: data}
	}
	return root
}

func TestTheHostsKernel(t *testing.T) {
	f := imagetest.Files{"boot/vmlinuz-5.4.0": []byte("another one, damaged")}
	for name, data := range imagetest.Installed() {
		f[strings.TrimPrefix(name, "usr/")] = data
	}
	k, err := fromHost(mapFS(f), imagetest.Release)
	wantTestKernel(t, k, err)
	if k.Origin != "this machine" {
		t.Errorf("origin is %q", k.Origin)
	}
}

func TestAHostWithoutItsKernel(t *testing.T) {
	_, err := fromHost(fstest.MapFS{}, "6.18.0-cloud")
	imagetest.WantError(t, err, "find this machine's kernel 6.18.0-cloud", "no kernel image: neither boot/vmlinuz-6.18.0-cloud nor lib/modules/6.18.0-cloud/vmlinuz")
	imagetest.WantHint(t, err, "add a kernel by version")
}

func TestAHostWhoseKernelOnlyRootReads(t *testing.T) {
	_, err := fromHost(lockedFS{mapFS(imagetest.Installed())}, imagetest.Release)
	imagetest.WantError(t, err, "read this machine's kernel", "permission denied")
	imagetest.WantHint(t, err, "let root pack it")
}

// lockedFS is a file system whose kernels only root can read, as some distributions
// install them.
type lockedFS struct{ fs.FS }

func (l lockedFS) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "boot/vmlinuz") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.FS.Open(name)
}

func TestDebiansPlaceholderIsNoSystemMap(t *testing.T) {
	f := imagetest.Installed()
	name := "boot/System.map-" + imagetest.Release
	f[name] = []byte("ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n")
	if k := imagetest.Must(fromHost(mapFS(f), imagetest.Release)); k.systemMap != nil {
		t.Errorf("System.map is %q", k.systemMap)
	}
	f[name] = []byte(strings.Repeat("ffffffff81000000 T _text\n", 100))
	if k := imagetest.Must(fromHost(mapFS(f), imagetest.Release)); k.systemMap == nil {
		t.Error("no System.map")
	}
}
