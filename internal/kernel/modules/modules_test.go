package modules

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// resolved returns the names that Resolve returns for modules of imagetest.Release; all
// maps file names to contents.
func resolved(all map[string][]byte, names ...string) (ordered, missing []string, err error) {
	found, missing, err := Unpacked(all, []string{"builtin"}).Resolve(imagetest.Release, names)
	for _, m := range found {
		ordered = append(ordered, m.Name)
	}
	return ordered, missing, err
}

func TestDependenciesOfModules(t *testing.T) {
	got, missing, err := resolved(map[string][]byte{
		"modules/one.ko":  imagetest.ModuleNamed("one", "two", "builtin", "gone"),
		"modules/two.ko":  imagetest.ModuleNamed("two", "one"), // no kernel has such a loop
		"modules/soft.ko": imagetest.Module("depends=", "softdep=pre: two gone post: three"),
	}, "one", "soft")
	if err != nil || !slices.Equal(got, []string{"two", "one", "soft"}) {
		t.Errorf("got %v, error %v", got, err)
	}
	// A soft dependency may be missing.
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
			_, _, err := resolved(map[string][]byte{"modules/m.ko": tc.data}, "m")
			imagetest.WantError(t, err, tc.want)
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
		if got, ok := OfFile(file); ok != (want != "") || ok && got != want {
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
