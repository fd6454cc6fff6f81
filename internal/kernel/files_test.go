package kernel

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

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
			k, err := FromFiles(image, modules)
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
	k, err := FromFiles(filepath.Join(root, "vmlinux"), root)
	if err != nil {
		t.Fatal(err)
	}
	modules, missing, err := k.Modules("veth", "cls_bpf")
	if err != nil || len(missing) > 0 || len(modules) != 2 {
		t.Errorf("modules %v, missing %v, error %v", moduleNames(modules), missing, err)
	}
	if k.Config == nil || k.SystemMap == nil {
		t.Errorf("config %q, System.map %q", k.Config, k.SystemMap)
	}
}

func TestAnImageWithoutModules(t *testing.T) {
	k, err := FromFiles(imagetest.WriteTemp(t, "vmlinuz", imagetest.Bootable()), "")
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
	_, err := FromFiles(text, "")
	imagetest.WantError(t, err, "read kernel "+text+": not a Linux kernel image")

	_, err = FromFiles(filepath.Join(t.TempDir(), "nope"), "")
	imagetest.WantError(t, err, "read kernel", "no such file")

	image := imagetest.WriteTemp(t, "vmlinuz", imagetest.Bootable())
	_, err = FromFiles(image, filepath.Join(t.TempDir(), "nope"))
	imagetest.WantError(t, err, "read modules in", "no such file")
}

// mapFS is f as a file system.
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
	imagetest.WantHint(t, err, "Let root pack it")
}

// lockedFS is a file system as some distributions install it.
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
	if k := imagetest.Must(fromHost(mapFS(f), imagetest.Release)); k.SystemMap != nil {
		t.Errorf("System.map is %q", k.SystemMap)
	}
	f[name] = []byte(strings.Repeat("ffffffff81000000 T _text\n", 100))
	if k := imagetest.Must(fromHost(mapFS(f), imagetest.Release)); k.SystemMap == nil {
		t.Error("no System.map")
	}
}
