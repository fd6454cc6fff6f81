package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

func TestVmlinuxOfABzImage(t *testing.T) {
	vmlinux := imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)
	for name, payload := range map[string][]byte{
		"gzip":       imagetest.Gzip(vmlinux),
		"zstd":       imagetest.Zstd(vmlinux),
		"xz":         imagetest.XZ(vmlinux),
		"lzma":       imagetest.LZMA(vmlinux),
		"LZ4 legacy": imagetest.LZ4(vmlinux),
	} {
		t.Run(name, func(t *testing.T) {
			data := imagetest.BzImage(imagetest.Release, vmlinux, payload)
			d, err := Describe(data)
			if want := (Description{BzImage, "amd64", imagetest.Release}); err != nil || d != want {
				t.Fatalf("describes as %v, error %v", d, err)
			}
			got, err := Vmlinux(data, d.Format)
			if err != nil || !bytes.Equal(got, vmlinux) {
				t.Errorf("got %d bytes of %d, error %v", len(got), len(vmlinux), err)
			}
		})
	}
}

func TestAnLZ4PayloadOfSeveralBlocks(t *testing.T) {
	vmlinux := append(imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote), make([]byte, 2*8<<20+1)...)
	got, err := unpackBzImage(imagetest.BzImage(imagetest.Release, vmlinux, imagetest.LZ4(vmlinux)))
	if err != nil || !bytes.Equal(got, vmlinux) {
		t.Errorf("got %d bytes of %d, error %v", len(got), len(vmlinux), err)
	}
}

// zbootOf returns an EFI image that unpacks itself.
func zbootOf(payload []byte) []byte {
	b := make([]byte, 64)
	copy(b, "MZ\x00\x00zimg")
	binary.LittleEndian.PutUint32(b[8:], 64)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(payload)))
	return append(b, payload...)
}

func TestImagesOfArm64(t *testing.T) {
	raw := imagetest.Arm64("6.12.1-arm64")
	for name, data := range map[string][]byte{
		"plain":  raw,
		"gzip":   imagetest.Gzip(raw),
		"zboot":  zbootOf(imagetest.Gzip(raw)),
		"zboot2": zbootOf(imagetest.Zstd(raw)),
	} {
		d, err := Describe(data)
		if want := (Description{Arm64, "arm64", "6.12.1-arm64"}); err != nil || d != want {
			t.Errorf("%s: describes as %v, error %v", name, d, err)
		}
		if _, err := Vmlinux(data, d.Format); !errors.Is(err, ErrNoPVH) {
			t.Errorf("%s: vmlinux: error %v", name, err)
		}
	}
}

func TestImagesThatAreRefused(t *testing.T) {
	good := imagetest.Bootable()
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an empty file":        {nil, "not a Linux kernel image"},
		"a text":               {[]byte(strings.Repeat("not a kernel ", 100)), "not a Linux kernel image"},
		"a compressed text":    {imagetest.Gzip([]byte(strings.Repeat("not a kernel ", 100))), "not a Linux kernel image"},
		"a damaged ELF":        {[]byte(elf.ELFMAG + "\x02\x01\x01"), "read vmlinux"},
		"another ELF":          {imagetest.Module("name=veth"), "not a Linux kernel image: ELF ET_REL"},
		"an ELF program":       {imagetest.Vmlinux("", nil), "no Linux version"},
		"a 32-bit kernel":      {imagetest.Edited(good, func(b []byte) { b[offXLoadFlags] = 0 }), "32-bit"},
		"no version":           {imagetest.Edited(good, func(b []byte) { put16(b[offKernelVersion:], 0) }), "names no kernel version"},
		"a version far out":    {imagetest.Edited(good, func(b []byte) { put16(b[offKernelVersion:], 0xffff) }), "names no kernel version"},
		"a path for a version": {imagetest.BzImage("../../etc/passwd", nil, imagetest.Gzip(nil)), `release reads "../../etc/passwd"`},
		"a zboot cut short":    {zbootOf(imagetest.Gzip(imagetest.Arm64("6.1")))[:70], "outside the file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Describe(tc.data)
			imagetest.WantError(t, err, tc.want)
		})
	}
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"cut short":               {good[:len(good)-1], "bzImage is truncated"},
		"a payload far out":       {imagetest.Edited(good, func(b []byte) { put32(b[offPayloadOffset:], 1<<31) }), "bzImage is truncated"},
		"an empty payload":        {imagetest.Edited(good, func(b []byte) { put32(b[offPayloadLength:], 0) }), "bzImage is truncated"},
		"an old protocol":         {imagetest.Edited(good, func(b []byte) { put16(b[offVersion:], 0x0207) }), "boot protocol 2.7"},
		"another size":            {imagetest.Edited(good, func(b []byte) { b[len(b)-1]++ }), "gzip"},
		"an unknown compression":  {imagetest.BzImage(imagetest.Release, nil, []byte("rot13 is not a compression")), "unknown way: begins with 72 6f"},
		"LZO":                     {imagetest.BzImage(imagetest.Release, nil, []byte("\x89LZO"+"....")), "LZO, which is not supported"},
		"LZ4 with a block cut":    {imagetest.BzImage(imagetest.Release, nil, imagetest.LZ4(imagetest.Bootable())[:100]), "unexpected EOF"},
		"LZ4 with a block of 1GB": {imagetest.BzImage(imagetest.Release, nil, []byte("\x02\x21\x4c\x18"+"\x00\x00\x00\x40....")), "lz4: invalid block size"},
		"another text":            {imagetest.BzImage(imagetest.Release, []byte("twelve bytes"), imagetest.Zstd([]byte("eleven byte"))), "11 bytes instead of 12"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Vmlinux(tc.data, BzImage)
			imagetest.WantError(t, err, tc.want)
		})
	}
}

func FuzzImage(f *testing.F) {
	vmlinux := imagetest.Vmlinux(imagetest.Release, imagetest.PVHNote)
	f.Add(vmlinux)
	f.Add(imagetest.BzImage(imagetest.Release, vmlinux, imagetest.LZ4(vmlinux)))
	f.Add(imagetest.BzImage(imagetest.Release, vmlinux, imagetest.Zstd(vmlinux)))
	f.Add(imagetest.BzImage(imagetest.Release, vmlinux, imagetest.XZ(vmlinux)))
	f.Add(zbootOf(imagetest.Gzip(imagetest.Arm64("6.1.0"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Describe(data)
		if err != nil {
			return
		}
		if _, err := uname.Check(d.Release); err != nil || strings.Contains(d.Release, "/") {
			t.Errorf("release %q", d.Release)
		}
		if vmlinux, err := Vmlinux(data, d.Format); err == nil && checkPVH(vmlinux) != nil {
			t.Error("vmlinux without PVH, and no error")
		}
	})
}
