package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVmlinuxOfABzImage(t *testing.T) {
	vmlinux := vmlinuxOf(testRelease, pvhNote)
	for name, payload := range map[string][]byte{
		"gzip":       gzipped(vmlinux),
		"zstd":       zstdCompressed(vmlinux),
		"xz":         xzCompressed(vmlinux),
		"lzma":       lzmaCompressed(vmlinux),
		"LZ4 legacy": lz4Compressed(vmlinux),
	} {
		t.Run(name, func(t *testing.T) {
			data := bzImageOf(testRelease, vmlinux, payload)
			d, err := describe(data)
			if want := (description{formatBzImage, "amd64", testRelease}); err != nil || d != want {
				t.Fatalf("describes as %v, error %v", d, err)
			}
			got, err := (&Kernel{image: imageOf(data, d.format)}).Vmlinux()
			if err != nil || !bytes.Equal(got, vmlinux) {
				t.Errorf("got %d bytes of %d, error %v", len(got), len(vmlinux), err)
			}
		})
	}
}

func TestAnLZ4PayloadOfSeveralBlocks(t *testing.T) {
	vmlinux := append(vmlinuxOf(testRelease, pvhNote), make([]byte, 2*8<<20+1)...)
	got, err := unpackBzImage(bzImageOf(testRelease, vmlinux, lz4Compressed(vmlinux)))
	if err != nil || !bytes.Equal(got, vmlinux) {
		t.Errorf("got %d bytes of %d, error %v", len(got), len(vmlinux), err)
	}
}

func TestAKernelWithoutPVHBootsByItsImage(t *testing.T) {
	vmlinux := vmlinuxOf(testRelease, nil)
	data := bzImageOf(testRelease, vmlinux, gzipped(vmlinux))
	k := &Kernel{Release: testRelease, image: imageOf(data, formatBzImage)}

	if _, err := k.Vmlinux(); !errors.Is(err, ErrNoPVH) {
		t.Errorf("vmlinux: error %v", err)
	}
	file, err := k.BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := must(os.ReadFile(file)); filepath.Base(file) != vmlinuzName || !bytes.Equal(got, data) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}

func TestAKernelWithPVHBootsByItsVmlinux(t *testing.T) {
	file, err := testKernel().BootFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := must(os.ReadFile(file)); filepath.Base(file) != vmlinuxName || !bytes.Equal(got, vmlinuxOf(testRelease, pvhNote)) {
		t.Errorf("boots %s of %d bytes", file, len(got))
	}
}

// arm64Of is an arm64 Image.
func arm64Of(release string) []byte {
	b := make([]byte, 64)
	copy(b[56:], arm64Magic)
	return append(b, "Linux version "+release+" (me@here)\x00"...)
}

// zbootOf is an EFI image that unpacks itself.
func zbootOf(payload []byte) []byte {
	b := make([]byte, 64)
	copy(b, "MZ\x00\x00zimg")
	binary.LittleEndian.PutUint32(b[8:], 64)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(payload)))
	return append(b, payload...)
}

func TestImagesOfArm64(t *testing.T) {
	raw := arm64Of("6.12.1-arm64")
	for name, data := range map[string][]byte{
		"plain":  raw,
		"gzip":   gzipped(raw),
		"zboot":  zbootOf(gzipped(raw)),
		"zboot2": zbootOf(zstdCompressed(raw)),
	} {
		d, err := describe(data)
		if want := (description{formatArm64, "arm64", "6.12.1-arm64"}); err != nil || d != want {
			t.Errorf("%s: describes as %v, error %v", name, d, err)
		}
		if _, err := extractVmlinux(data, d.format); !errors.Is(err, ErrNoPVH) {
			t.Errorf("%s: vmlinux: error %v", name, err)
		}
	}
}

func edited(data []byte, edit func([]byte)) []byte {
	data = bytes.Clone(data)
	edit(data)
	return data
}

func TestImagesThatAreRefused(t *testing.T) {
	good := testBzImage()
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":        {nil, "not a Linux kernel image"},
		"a text":               {[]byte(strings.Repeat("not a kernel ", 100)), "not a Linux kernel image"},
		"a compressed text":    {gzipped([]byte(strings.Repeat("not a kernel ", 100))), "not a Linux kernel image"},
		"a damaged ELF":        {[]byte(elf.ELFMAG + "\x02\x01\x01"), "read vmlinux"},
		"another ELF":          {moduleOf("name=veth"), "not a Linux kernel image: ELF ET_REL"},
		"an ELF program":       {vmlinuxOf("", nil), "no Linux version"},
		"a 32-bit kernel":      {edited(good, func(b []byte) { b[offXLoadFlags] = 0 }), "32-bit"},
		"no version":           {edited(good, func(b []byte) { put16(b[offKernelVersion:], 0) }), "names no kernel version"},
		"a version far out":    {edited(good, func(b []byte) { put16(b[offKernelVersion:], 0xffff) }), "names no kernel version"},
		"a path for a version": {bzImageOf("../../etc/passwd", nil, gzipped(nil)), `release reads "../../etc/passwd"`},
		"a zboot cut short":    {zbootOf(gzipped(arm64Of("6.1")))[:70], "outside the file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := describe(tc.data)
			wantError(t, err, tc.want)
		})
	}
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"cut short":               {good[:len(good)-1], "bzImage is truncated"},
		"a payload far out":       {edited(good, func(b []byte) { put32(b[offPayloadOffset:], 1<<31) }), "bzImage is truncated"},
		"an empty payload":        {edited(good, func(b []byte) { put32(b[offPayloadLength:], 0) }), "bzImage is truncated"},
		"an old protocol":         {edited(good, func(b []byte) { put16(b[offVersion:], 0x0207) }), "boot protocol 2.7"},
		"another size":            {edited(good, func(b []byte) { b[len(b)-1]++ }), "gzip"},
		"an unknown compression":  {bzImageOf(testRelease, nil, []byte("rot13 is no compression")), "unknown way: begins with 72 6f"},
		"LZO":                     {bzImageOf(testRelease, nil, []byte(lzoMagic+"....")), "LZO, which is not supported"},
		"LZ4 with a block cut":    {bzImageOf(testRelease, nil, lz4Compressed(testBzImage())[:100]), "unexpected EOF"},
		"LZ4 with a block of 1GB": {bzImageOf(testRelease, nil, []byte(lz4Magic+"\x00\x00\x00\x40....")), "lz4: invalid block size"},
		"another text":            {bzImageOf(testRelease, []byte("twelve bytes"), zstdCompressed([]byte("eleven byte"))), "11 bytes instead of 12"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := extractVmlinux(tc.data, formatBzImage)
			wantError(t, err, tc.want)
		})
	}
}

func FuzzImage(f *testing.F) {
	vmlinux := vmlinuxOf(testRelease, pvhNote)
	f.Add(vmlinux)
	f.Add(bzImageOf(testRelease, vmlinux, lz4Compressed(vmlinux)))
	f.Add(bzImageOf(testRelease, vmlinux, zstdCompressed(vmlinux)))
	f.Add(bzImageOf(testRelease, vmlinux, xzCompressed(vmlinux)))
	f.Add(zbootOf(gzipped(arm64Of("6.1.0"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := describe(data)
		if err != nil {
			return
		}
		if _, err := checkRelease(d.release); err != nil || strings.Contains(d.release, "/") {
			t.Errorf("release %q", d.release)
		}
		if vmlinux, err := extractVmlinux(data, d.format); err == nil && checkPVH(vmlinux) != nil {
			t.Error("vmlinux without PVH, and no error")
		}
	})
}
