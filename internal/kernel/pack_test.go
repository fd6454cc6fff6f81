package kernel

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

func packed(k *Kernel, extra ...string) []byte {
	var b bytes.Buffer
	imagetest.Check(Pack(&b, k, extra...))
	return b.Bytes()
}

// membersOf returns the names in a pack, in order.
func membersOf(data []byte) (names []string) {
	r := tar.NewReader(bytes.NewReader(imagetest.Must(untrusted.Decompress(data, untrusted.MaxImage))))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		imagetest.Check(err)
		names = append(names, header.Name)
	}
}

func TestAPackedKernelIsTheKernel(t *testing.T) {
	data := packed(testKernel())
	want := "[manifest.json modules/veth.ko modules/b_part.ko modules/a.ko modules/cls_bpf.ko config vmlinux]"
	if got := fmt.Sprint(membersOf(data)); got != want {
		t.Errorf("has %s", got)
	}
	k, err := unpack(bytes.NewReader(data))
	wantTestKernel(t, k, err)
	if k.Origin != "a test" {
		t.Errorf("origin is %q", k.Origin)
	}
	if _, missing, _ := k.Modules("tun"); len(missing) != 1 {
		t.Errorf("missing %v", missing)
	}
	if again := packed(k); !bytes.Equal(again, data) {
		t.Error("packed again, it has other bytes")
	}
}

func TestTheSameKernelPacksToTheSameBytes(t *testing.T) {
	data := packed(testKernel())
	for range 10 {
		if !bytes.Equal(packed(testKernel()), data) {
			t.Fatal("other bytes")
		}
	}
}

func TestExtraModulesArePacked(t *testing.T) {
	f := imagetest.Installed()
	f["usr/lib/modules/"+imagetest.Release+"/extra/mine.ko"] = imagetest.ModuleNamed("mine", "a")
	k := imagetest.Must(fromHost(mapFS(stripUsr(f)), imagetest.Release))
	modules, _, err := imagetest.Must(unpack(bytes.NewReader(packed(k, "mine")))).Modules("mine")
	if err != nil || len(modules) != 3 {
		t.Errorf("got %v, error %v", moduleNames(modules), err)
	}
}

func TestExtraModulesStayWhenPackedAgain(t *testing.T) {
	f := imagetest.Installed()
	f["usr/lib/modules/"+imagetest.Release+"/extra/mine.ko"] = imagetest.ModuleNamed("mine", "helper")
	f["usr/lib/modules/"+imagetest.Release+"/extra/helper.ko"] = imagetest.ModuleNamed("helper")
	data := packed(imagetest.Must(fromHost(mapFS(stripUsr(f)), imagetest.Release)), "mine")
	if again := packed(imagetest.Must(unpack(bytes.NewReader(data)))); !bytes.Equal(again, data) {
		t.Errorf("packed again it has %s instead of %s", membersOf(again), membersOf(data))
	}

	c := newCache(t)
	e := imagetest.Must(c.Add(imagetest.Must(FromPack(imagetest.WriteTemp(t, "kernel", data)))))
	if !bytes.Equal(imagetest.Must(os.ReadFile(e.Path)), data) {
		t.Error("the cache has other bytes")
	}
	if again := packed(imagetest.Must(c.Get("6.12"))); !bytes.Equal(again, data) {
		t.Errorf("packed from the cache it has %s", membersOf(again))
	}
}

func stripUsr(f imagetest.Files) imagetest.Files {
	stripped := imagetest.Files{}
	for name, data := range f {
		stripped[strings.TrimPrefix(name, "usr/")] = data
	}
	return stripped
}

func TestAKernelWithoutPVHIsPackedAsItIs(t *testing.T) {
	data := imagetest.BzImage(imagetest.Release, imagetest.Vmlinux(imagetest.Release, nil), imagetest.Gzip(imagetest.Vmlinux(imagetest.Release, nil)))
	k := imagetest.Must(fromFiles(imagetest.WriteTemp(t, "vmlinuz", data), ""))
	got := imagetest.Must(unpack(bytes.NewReader(packed(k))))
	if image := imagetest.Must(got.image.read()); !bytes.Equal(image, data) {
		t.Errorf("image has %d bytes of %d", len(image), len(data))
	}
	if _, err := got.vmlinux(); !errors.Is(err, image.ErrNoPVH) {
		t.Errorf("error %v", err)
	}
}

// repacked returns the pack of testKernel after an edit.
func repacked(edit func(p *pack.Pack)) []byte {
	p := imagetest.Must(newPack(testKernel(), nil))
	edit(p)
	var b bytes.Buffer
	imagetest.Check(p.Write(&b))
	return b.Bytes()
}

func TestPacksThatAreRefused(t *testing.T) {
	good := packed(testKernel())
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"cut short":       {good[:len(good)-1], "unexpected EOF"},
		"another release": {repacked(func(p *pack.Pack) { p.Release = "6.12.998-liar" }), "6.12.998-liar: its image is Linux " + imagetest.Release},
	} {
		t.Run(name, func(t *testing.T) {
			file := imagetest.WriteTemp(t, "a.tar.zst", tc.data)
			_, err := FromPack(file)
			imagetest.WantError(t, err, file, "unpack kernel", tc.want)
		})
	}
}

func TestAKernelThatCannotBePacked(t *testing.T) {
	k := &Kernel{
		Release: imagetest.Release,
		modules: modules.Unpacked(map[string][]byte{"modules/veth.ko": []byte("no module")}, nil),
	}
	imagetest.WantError(t, Pack(io.Discard, k), "pack kernel "+imagetest.Release, "find modules of "+imagetest.Release, "modules/veth.ko")
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(testKernel()))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := unpack(bytes.NewReader(data))
		if err != nil {
			return
		}
		k.Modules(needed...) // it must only not panic
		k.BootFile(t.TempDir())
	})
}

func TestAKernelOfArm64IsPackedAsItIs(t *testing.T) {
	data := imagetest.Gzip(imagetest.Arm64("6.12.1-arm64"))
	k := imagetest.Must(fromFiles(imagetest.WriteTemp(t, "vmlinuz", data), ""))
	got := imagetest.Must(unpack(bytes.NewReader(packed(k))))
	if raw := imagetest.Must(got.image.read()); got.Arch != "arm64" || got.image.format != image.Arm64 || !bytes.Equal(raw, data) {
		t.Errorf("got %s, format %d, %d bytes of %d", got.Arch, got.image.format, len(raw), len(data))
	}
}
