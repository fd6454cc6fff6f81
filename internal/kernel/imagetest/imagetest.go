// Package imagetest makes kernels for tests: images and modules without code, packed by
// each compression, and the folders and archives they come in. It shares no code with the
// packages that read them.
package imagetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Must returns v, and panics if there is an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check panics if there is an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// WantError reports a failure unless err is an error that contains each of the words.
func WantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

// WantHint reports a failure unless the hint of err has the word.
func WantHint(t *testing.T, err error, word string) {
	t.Helper()
	if hint := bench.Hint(err); !strings.Contains(hint, word) {
		t.Errorf("hint %q lacks %q", hint, word)
	}
}

// Release is the release of the kernels that tests make.
const Release = "6.12.107+deb13-cloud-amd64"

// layOut writes the parts of a file one after the other.
func layOut(parts ...any) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		Check(binary.Write(&b, binary.LittleEndian, part))
	}
	return b.Bytes()
}

func ident() (id [elf.EI_NIDENT]byte) {
	copy(id[:], elf.ELFMAG)
	id[elf.EI_CLASS], id[elf.EI_DATA], id[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	return id
}

const xenPhysEntry = 18 // XEN_ELFNOTE_PHYS32_ENTRY

// PVHNote is the note that tells QEMU where to enter a kernel.
var PVHNote = layOut(uint32(4), uint32(8), uint32(xenPhysEntry), []byte("Xen\x00"), uint64(0x1000000))

// Vmlinux returns an ELF kernel without code.
func Vmlinux(release string, notes []byte) []byte {
	text := fmt.Sprintf("Linux version %%s\x00Linux version %s (me@here) #1 SMP\x00%s", release, strings.Repeat("code ", 1000))
	const headers = 64 + 56
	return layOut(
		elf.Header64{
			Ident: ident(), Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1,
			Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_NOTE), Off: headers, Filesz: uint64(len(notes)), Memsz: uint64(len(notes)), Align: 4},
		notes, []byte(text))
}

// BzImage returns a bzImage with that payload. All formats except gzip have the size after
// it.
func BzImage(release string, vmlinux, payload []byte) []byte {
	if !bytes.HasPrefix(payload, []byte("\x1f\x8b\x08")) {
		payload = binary.LittleEndian.AppendUint32(slices.Clone(payload), uint32(len(vmlinux)))
	}
	const sector = 512
	b := make([]byte, 2*sector+64) // the boot sector, one more, and the part before the payload
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	// See Documentation/arch/x86/boot.rst in the kernel's sources.
	b[0x1f1] = 1 // setup_sects
	put16(b[0x1fe:], 0xaa55)
	copy(b[0x202:], "HdrS")
	put16(b[0x206:], 0x020f) // version of the protocol
	put16(b[0x20e:], 0x300-sector)
	put16(b[0x236:], 1)  // xloadflags: 64 bits
	put32(b[0x248:], 64) // payload_offset
	put32(b[0x24c:], uint32(len(payload)))
	copy(b[0x300:], release+" (me@here) #1 SMP\x00")
	return append(b, payload...)
}

// Bootable returns a bzImage of Release that QEMU can boot by PVH.
func Bootable() []byte {
	vmlinux := Vmlinux(Release, PVHNote)
	return BzImage(Release, vmlinux, Gzip(vmlinux))
}

// Module returns a module without code, with the given entries in its .modinfo.
func Module(modinfo ...string) []byte {
	info := []byte(strings.Join(modinfo, "\x00") + "\x00")
	names := []byte("\x00.modinfo\x00.shstrtab\x00")
	at := uint64(64)
	section := func(name uint32, typ elf.SectionType, data []byte) elf.Section64 {
		s := elf.Section64{Name: name, Type: uint32(typ), Off: at, Size: uint64(len(data)), Addralign: 1}
		at += s.Size
		return s
	}
	sections := []elf.Section64{{}, section(1, elf.SHT_PROGBITS, info), section(10, elf.SHT_STRTAB, names)}
	return layOut(elf.Header64{
		Ident: ident(), Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1,
		Shoff: at, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}, info, names, sections)
}

// ModuleNamed returns a module of Release.
func ModuleNamed(name string, depends ...string) []byte {
	return Module("name="+name, "depends="+strings.Join(depends, ","), "vermagic="+Release+" SMP preempt mod_unload ")
}

// Gzip returns data compressed by gzip.
func Gzip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	Must(w.Write(data))
	Check(w.Close())
	return b.Bytes()
}

// Zstd returns data compressed by zstd.
func Zstd(data []byte) []byte {
	w := Must(zstd.NewWriter(nil))
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// XZ returns data compressed by xz.
func XZ(data []byte) []byte {
	var b bytes.Buffer
	w := Must(xz.NewWriter(&b))
	Must(w.Write(data))
	Check(w.Close())
	return b.Bytes()
}

// LZMA returns data compressed by bare LZMA.
func LZMA(data []byte) []byte {
	var b bytes.Buffer
	w := Must(lzma.NewWriter(&b))
	Must(w.Write(data))
	Check(w.Close())
	return b.Bytes()
}

// LZ4 returns data in the legacy frame of LZ4, which the kernel uses for itself.
func LZ4(data []byte) []byte {
	const lz4Block = 8 << 20
	out := []byte("\x02\x21\x4c\x18")
	for block := range slices.Chunk(data, lz4Block) {
		packed := make([]byte, lz4.CompressBlockBound(len(block)))
		n := Must(lz4.CompressBlock(block, packed, nil))
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
		out = append(out, packed[:n]...)
	}
	return out
}

// Files is the files of an archive or a folder, by path.
type Files map[string][]byte

// Installed returns a kernel as Debian lays it out, with the modules of most tests: veth,
// which needs no others, and cls_bpf, which needs a and b.
func Installed() Files {
	dir := "usr/lib/modules/" + Release + "/"
	return Files{
		"boot/vmlinuz-" + Release:                Bootable(),
		"boot/config-" + Release:                 []byte("CONFIG_BPF=y\n"),
		dir + "modules.builtin":                  []byte("kernel/drivers/virtio/virtio_pci.ko\nkernel/drivers/char/virtio_console.ko\n"),
		dir + "kernel/drivers/net/veth.ko":       ModuleNamed("veth"),
		dir + "kernel/net/sched/cls_bpf.ko.xz":   XZ(ModuleNamed("cls_bpf", "a", "b-part")),
		dir + "kernel/net/sched/a.ko.zst":        Zstd(ModuleNamed("a", "b_part")),
		dir + "kernel/net/sched/b-part.ko.gz":    Gzip(ModuleNamed("b_part")),
		"usr/share/doc/linux-image/changelog.gz": []byte("not of interest"),
	}
}

// Tar returns a tar archive of the files.
func Tar(f Files) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		Check(w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(f[name])), Typeflag: tar.TypeReg}))
		Must(w.Write(f[name]))
	}
	Check(w.Close())
	return b.Bytes()
}

// TarNamed returns a tar archive of an empty file of that name.
func TarNamed(name string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	Check(w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg}))
	Check(w.Close())
	return b.Bytes()
}

// Ar returns an ar archive of the members, each a name and its bytes.
func Ar(members ...any) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for pair := range slices.Chunk(members, 2) {
		data := pair[1].([]byte)
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d%s", pair[0], 0, 0, 0, 0o100644, len(data), "`\n")
		b.Write(data)
		if len(data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// Deb returns a .deb of the files.
func Deb(f Files) []byte {
	return Ar("debian-binary", []byte("2.0\n"), "control.tar.xz", XZ(Tar(nil)), "data.tar.xz", XZ(Tar(f)))
}

// WriteFiles writes f below dir.
func WriteFiles(dir string, f Files) {
	for name, data := range f {
		file := filepath.Join(dir, name)
		Check(os.MkdirAll(filepath.Dir(file), 0o755))
		Check(os.WriteFile(file, data, 0o644))
	}
}

// WriteTemp writes a file with that name for the test, and returns its path.
func WriteTemp(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	Check(os.WriteFile(file, data, 0o644))
	return file
}

// Arm64 returns an arm64 Image.
func Arm64(release string) []byte {
	b := make([]byte, 64)
	copy(b[56:], "ARM\x64")
	return append(b, "Linux version "+release+" (me@here)\x00"...)
}

// Edited returns a copy of data after an edit.
func Edited(data []byte, edit func([]byte)) []byte {
	data = bytes.Clone(data)
	edit(data)
	return data
}

// Sum returns the SHA-256 of data, in hex.
func Sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// Split returns the kernel of Installed as Debian splits it over packages.
func Split() (binary, base, modules Files) {
	binary, base, modules = Files{}, Files{}, Files{}
	for name, data := range Installed() {
		name = strings.NewReplacer(
			"boot/vmlinuz-"+Release, "usr/lib/modules/"+Release+"/vmlinuz",
			"boot/config-"+Release, "usr/lib/modules/"+Release+"/config",
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
