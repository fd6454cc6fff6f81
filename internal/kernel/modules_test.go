package kernel

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestModulesComeAfterTheirDependencies(t *testing.T) {
	k := testKernel()
	got, missing, err := k.Modules("cls_bpf", "veth", "virtio-pci", "b-part", "nope")
	if err != nil {
		t.Fatal(err)
	}
	// A dash is an underscore, and what is built in needs no loading.
	if want := []string{"b_part", "a", "cls_bpf", "veth"}; !slices.Equal(moduleNames(got), want) {
		t.Errorf("got %v, want %v", moduleNames(got), want)
	}
	if !slices.Equal(missing, []string{"nope"}) {
		t.Errorf("missing %v", missing)
	}
	if !bytes.Equal(got[0].Data, imagetest.ModuleNamed("b_part")) {
		t.Error("b_part is not unpacked")
	}
}

// kernelOf is a kernel of these modules.
func kernelOf(all map[string][]byte) *Kernel {
	f := packedModules{}
	for name, data := range all {
		f[moduleFile(name)] = data
	}
	return &Kernel{Release: imagetest.Release, modules: f.index([]string{"builtin"})}
}

func TestDependenciesOfModules(t *testing.T) {
	k := kernelOf(map[string][]byte{
		"one":  imagetest.ModuleNamed("one", "two", "builtin", "gone"),
		"two":  imagetest.ModuleNamed("two", "one"), // no kernel has such a loop
		"soft": imagetest.Module("depends=", "softdep=pre: two gone post: three"),
	})
	got, missing, err := k.Modules("one", "soft")
	if err != nil || !slices.Equal(moduleNames(got), []string{"two", "one", "soft"}) {
		t.Errorf("got %v, error %v", moduleNames(got), err)
	}
	// What is only soft may be missing.
	if !slices.Equal(missing, []string{"gone"}) {
		t.Errorf("missing %v", missing)
	}
}

func TestModulesThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"another kernel's": {imagetest.Module("vermagic=5.10.0 SMP "), "modules/m.ko is built for kernel 5.10.0"},
		"a text":           {[]byte("no module"), "read modules/m.ko: not a module: unexpected EOF"},
		"a kernel":         {imagetest.Vmlinux(imagetest.Release, nil), "read modules/m.ko: not a module"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := kernelOf(map[string][]byte{"m": tc.data}).Modules("m")
			imagetest.WantError(t, err, "find modules of "+imagetest.Release, tc.want)
		})
	}
}

func TestNamesOfModules(t *testing.T) {
	for file, want := range map[string]string{
		"kernel/net/veth.ko":     "veth",
		"crc32c-intel.ko.xz":     "crc32c_intel",
		"kernel/a/b.ko.zst":      "b",
		"c.ko.gz":                "c",
		"modules.builtin":        "",
		"veth.ko.debug":          "",
		".ko":                    "",
		"veth.kore":              "",
		"kernel/net.ko/Makefile": "",
	} {
		if got, ok := moduleOfFile(file); ok != (want != "") || ok && got != want {
			t.Errorf("%s is module %q, %v", file, got, ok)
		}
	}
}

func FuzzModinfo(f *testing.F) {
	f.Add(imagetest.ModuleNamed("veth", "a", "b"))
	f.Add(imagetest.Module("softdep=pre: a post: b", "depends=,,"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := parseModinfo(data)
		if err != nil {
			return
		}
		for _, name := range slices.Concat(info.depends, info.soft) {
			if name == "" || strings.Contains(name, "\x00") {
				t.Errorf("depends on %q", name)
			}
		}
	})
}
