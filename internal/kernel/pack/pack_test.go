package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// testPack returns the pack of a kernel with modules.
func testPack() *Pack {
	p := New(imagetest.Release, "amd64", "a test", []string{"virtio_pci"})
	p.Add(ModuleFile("veth"), imagetest.ModuleNamed("veth"))
	p.Add(ModuleFile("b_part"), imagetest.ModuleNamed("b_part"))
	p.Add(ModuleFile("a"), imagetest.ModuleNamed("a", "b_part"))
	p.Add(ModuleFile("cls_bpf"), imagetest.ModuleNamed("cls_bpf", "a", "b-part"))
	p.Add(ConfigFile, []byte("CONFIG_BPF=y\n"))
	p.Add(VmlinuxFile, imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote))
	return p
}

// repacked returns testPack after an edit.
func repacked(edit func(p *Pack)) []byte {
	p := testPack()
	edit(p)
	var b bytes.Buffer
	imagetest.Check(p.Write(&b))
	return b.Bytes()
}

// readWhole reads all files of a pack.
func readWhole(data []byte) error {
	p, err := Open(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer p.Close()
	for range p.Files {
		if _, err := p.Next(); err != nil {
			return err
		}
	}
	return p.End()
}

func TestAPackIsReadAsItWasWritten(t *testing.T) {
	if err := readWhole(repacked(func(*Pack) {})); err != nil {
		t.Error(err)
	}
}

func TestPacksThatAreRefused(t *testing.T) {
	good := repacked(func(*Pack) {})
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":       {nil, "read manifest: unexpected EOF"},
		"a text":              {[]byte("This is a text."), "read manifest"},
		"another archive":     {imagetest.Zstd(imagetest.Tar(imagetest.Installed())), "read manifest: has \"./boot/config-"},
		"cut short":           {good[:len(good)-1], "unexpected EOF"},
		"a damaged module":    {repacked(func(p *Pack) { p.content[0] = imagetest.Edited(p.content[0], func(b []byte) { b[90]++ }) }), "read modules/veth.ko: SHA-256 is"},
		"a damaged image":     {repacked(func(p *Pack) { p.content[5] = imagetest.Edited(p.content[5], func(b []byte) { b[90]++ }) }), "read vmlinux: SHA-256 is"},
		"a longer image":      {repacked(func(p *Pack) { p.content[5] = append(p.content[5], 0) }), "read vmlinux: larger than"},
		"another format":      {repacked(func(p *Pack) { p.Format = 2 }), "packed in format 2, not 1"},
		"a path for release":  {repacked(func(p *Pack) { p.Release = "../x" }), `release reads "../x"`},
		"an odd architecture": {repacked(func(p *Pack) { p.Arch = "pdp11" }), `architecture reads "pdp11"`},
		"a path upwards":      {repacked(func(p *Pack) { p.Files[0].Name = "modules/../../x.ko" }), `names a file "modules/../../x.ko"`},
		"a file twice":        {repacked(func(p *Pack) { p.Files[1].Name = p.Files[0].Name }), `names a file "modules/veth.ko"`},
		"a huge file":         {repacked(func(p *Pack) { p.Files[0].Size = untrusted.MaxModule + 1 }), "modules/veth.ko: size is"},
		"no checksum":         {repacked(func(p *Pack) { p.Files[0].SHA256 = "" }), `modules/veth.ko: SHA-256 reads ""`},
		"no image":            {repacked(func(p *Pack) { p.Files = p.Files[:5] }), "names no kernel image as its last file"},
		"the image first":     {repacked(func(p *Pack) { p.Files[0], p.Files[5] = p.Files[5], p.Files[0] }), "names no kernel image as its last file"},
		"no files":            {repacked(func(p *Pack) { p.Files = nil }), "names no kernel image as its last file"},
	} {
		t.Run(name, func(t *testing.T) {
			imagetest.WantError(t, readWhole(tc.data), tc.want)
		})
	}
}

func TestAPackWithMoreThanItsManifest(t *testing.T) {
	p := testPack()
	last := len(p.Files) - 1
	image := p.content[last]
	p.Files, p.content = p.Files[:last], p.content[:last]
	p.Add(VmlinuxFile, image)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	imagetest.Check(writeMember(w, manifestName, imagetest.Must(p.marshal())))
	for i, f := range p.Files {
		imagetest.Check(writeMember(w, f.Name, p.content[i]))
	}
	imagetest.Check(writeMember(w, "more", nil))
	imagetest.Check(w.Close())
	imagetest.WantError(t, readWhole(imagetest.Zstd(b.Bytes())), `has "more", which the manifest lacks`)
}

func FuzzManifest(f *testing.F) {
	f.Add(imagetest.Must(testPack().marshal()))
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
		if m.ImageFormat() == 0 || !json.Valid(data[:max(0, bytes.LastIndexByte(data, '}')+1)]) {
			t.Errorf("format %d", m.ImageFormat())
		}
	})
}
