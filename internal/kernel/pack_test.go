package kernel

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

func packed(k *Kernel, extra ...string) []byte {
	var b bytes.Buffer
	imagetest.Check(Pack(&b, k, extra...))
	return b.Bytes()
}

// membersOf are the names in a pack, in order.
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
	k, err := Unpack(bytes.NewReader(data))
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
	modules, _, err := imagetest.Must(Unpack(bytes.NewReader(packed(k, "mine")))).Modules("mine")
	if err != nil || len(modules) != 3 {
		t.Errorf("got %v, error %v", moduleNames(modules), err)
	}
}

func TestExtraModulesStayWhenPackedAgain(t *testing.T) {
	f := imagetest.Installed()
	f["usr/lib/modules/"+imagetest.Release+"/extra/mine.ko"] = imagetest.ModuleNamed("mine", "helper")
	f["usr/lib/modules/"+imagetest.Release+"/extra/helper.ko"] = imagetest.ModuleNamed("helper")
	data := packed(imagetest.Must(fromHost(mapFS(stripUsr(f)), imagetest.Release)), "mine")
	if again := packed(imagetest.Must(Unpack(bytes.NewReader(data)))); !bytes.Equal(again, data) {
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
	k := imagetest.Must(FromFiles(imagetest.WriteTemp(t, "vmlinuz", data), ""))
	got := imagetest.Must(Unpack(bytes.NewReader(packed(k))))
	if image := imagetest.Must(got.image.read()); !bytes.Equal(image, data) {
		t.Errorf("image has %d bytes of %d", len(image), len(data))
	}
	if _, err := got.Vmlinux(); !errors.Is(err, image.ErrNoPVH) {
		t.Errorf("error %v", err)
	}
}

// repacked is the pack of testKernel, whose files an edit has changed.
func repacked(edit func(p *pack)) []byte {
	p := imagetest.Must(newPack(testKernel(), nil))
	edit(p)
	var b bytes.Buffer
	imagetest.Check(p.write(&b))
	return b.Bytes()
}

func TestPacksThatAreRefused(t *testing.T) {
	good := packed(testKernel())
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":       {nil, "read manifest: unexpected EOF"},
		"a text":              {[]byte("This is a text."), "read manifest"},
		"another archive":     {imagetest.Zstd(imagetest.Tar(imagetest.Installed())), "read manifest: has \"./boot/config-"},
		"cut short":           {good[:len(good)-1], "unexpected EOF"},
		"a damaged module":    {repacked(func(p *pack) { p.content[0] = imagetest.Edited(p.content[0], func(b []byte) { b[90]++ }) }), "read modules/veth.ko: SHA-256 is"},
		"a damaged image":     {repacked(func(p *pack) { p.content[5] = imagetest.Edited(p.content[5], func(b []byte) { b[90]++ }) }), "read vmlinux: SHA-256 is"},
		"a longer image":      {repacked(func(p *pack) { p.content[5] = append(p.content[5], 0) }), "read vmlinux: larger than"},
		"another format":      {repacked(func(p *pack) { p.Format = 2 }), "packed in format 2, not 1"},
		"another release":     {repacked(func(p *pack) { p.Release = "6.12.998-liar" }), "6.12.998-liar: its image is Linux " + imagetest.Release},
		"a path for release":  {repacked(func(p *pack) { p.Release = "../x" }), `release reads "../x"`},
		"an odd architecture": {repacked(func(p *pack) { p.Arch = "pdp11" }), `architecture reads "pdp11"`},
		"a path upwards":      {repacked(func(p *pack) { p.Files[0].Name = "modules/../../x.ko" }), `names a file "modules/../../x.ko"`},
		"a file twice":        {repacked(func(p *pack) { p.Files[1].Name = p.Files[0].Name }), `names a file "modules/veth.ko"`},
		"a huge file":         {repacked(func(p *pack) { p.Files[0].Size = untrusted.MaxModule + 1 }), "modules/veth.ko: size is"},
		"no checksum":         {repacked(func(p *pack) { p.Files[0].SHA256 = "" }), `modules/veth.ko: SHA-256 reads ""`},
		"no image":            {repacked(func(p *pack) { p.Files = p.Files[:5] }), "names no kernel image as its last file"},
		"the image first":     {repacked(func(p *pack) { p.Files[0], p.Files[5] = p.Files[5], p.Files[0] }), "names no kernel image as its last file"},
		"no files":            {repacked(func(p *pack) { p.Files = nil }), "names no kernel image as its last file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := imagetest.WriteTemp(t, "a.tar.zst", tc.data)
			_, err := FromPack(file)
			imagetest.WantError(t, err, file, "unpack kernel", tc.want)
		})
	}
}

func TestAPackWithMoreThanItsManifest(t *testing.T) {
	p := imagetest.Must(newPack(testKernel(), nil))
	last := len(p.Files) - 1
	image := p.content[last]
	p.Files, p.content = p.Files[:last], p.content[:last]
	p.add(vmlinuxName, image)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	imagetest.Check(writeMember(w, manifestName, imagetest.Must(p.marshal())))
	for i, f := range p.Files {
		imagetest.Check(writeMember(w, f.Name, p.content[i]))
	}
	imagetest.Check(writeMember(w, "more", nil))
	imagetest.Check(w.Close())
	_, err := Unpack(bytes.NewReader(imagetest.Zstd(b.Bytes())))
	imagetest.WantError(t, err, `has "more", which the manifest lacks`)
}

func TestAKernelThatCannotBePacked(t *testing.T) {
	k := kernelOf(map[string][]byte{"veth": []byte("no module")})
	imagetest.WantError(t, Pack(io.Discard, k), "pack kernel "+imagetest.Release, "modules/veth.ko")
}

func FuzzManifest(f *testing.F) {
	f.Add(imagetest.Must(imagetest.Must(newPack(testKernel(), nil)).marshal()))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		for _, file := range m.Files {
			if strings.Contains(file.Name, "..") && strings.Contains("/"+file.Name+"/", "/../") {
				t.Errorf("names a file %q", file.Name)
			}
		}
		if m.imageFormat() == 0 || !json.Valid(data[:max(0, bytes.LastIndexByte(data, '}')+1)]) {
			t.Errorf("format %d", m.imageFormat())
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(testKernel()))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Unpack(bytes.NewReader(data))
		if err != nil {
			return
		}
		k.Modules(needed...) // it must only not panic
		k.BootFile(t.TempDir())
	})
}

func TestAKernelOfArm64IsPackedAsItIs(t *testing.T) {
	data := imagetest.Gzip(imagetest.Arm64("6.12.1-arm64"))
	k := imagetest.Must(FromFiles(imagetest.WriteTemp(t, "vmlinuz", data), ""))
	got := imagetest.Must(Unpack(bytes.NewReader(packed(k))))
	if raw := imagetest.Must(got.image.read()); got.Arch != "arm64" || got.image.format != image.Arm64 || !bytes.Equal(raw, data) {
		t.Errorf("got %s, format %d, %d bytes of %d", got.Arch, got.image.format, len(raw), len(data))
	}
}
