package kernel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// wantError checks that err is there and says each of the words.
func wantError(t *testing.T, err error, words ...string) {
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

func wantHint(t *testing.T, err error, word string) {
	t.Helper()
	if hint := bench.Hint(err); !strings.Contains(hint, word) {
		t.Errorf("hint %q lacks %q", hint, word)
	}
}

// testRelease is the release of the kernels that the tests make.
const testRelease = "6.12.107+deb13-cloud-amd64"

// layOut writes the parts of a file one after the other.
func layOut(parts ...any) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		check(binary.Write(&b, binary.LittleEndian, part))
	}
	return b.Bytes()
}

func ident() (id [elf.EI_NIDENT]byte) {
	copy(id[:], elf.ELFMAG)
	id[elf.EI_CLASS], id[elf.EI_DATA], id[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	return id
}

// pvhNote is the note by which QEMU knows where to enter a kernel.
var pvhNote = layOut(uint32(4), uint32(8), uint32(physEntry), []byte("Xen\x00"), uint64(0x1000000))

// vmlinuxOf is a kernel without code.
func vmlinuxOf(release string, notes []byte) []byte {
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

// bzImageOf is a bzImage with that payload. All but gzip have the size behind it.
func bzImageOf(release string, vmlinux, payload []byte) []byte {
	if !bytes.HasPrefix(payload, []byte(gzipMagic)) {
		payload = binary.LittleEndian.AppendUint32(slices.Clone(payload), uint32(len(vmlinux)))
	}
	const setup = 2 * sectorSize // the boot sector, and one more
	b := make([]byte, setup+64)
	b[offSetupSects] = 1
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	put16(b[offBootFlag:], bootFlag)
	copy(b[offHeader:], "HdrS")
	put16(b[offVersion:], 0x020f)
	put16(b[offKernelVersion:], 0x300-sectorSize)
	put16(b[offXLoadFlags:], kernel64)
	put32(b[offPayloadOffset:], 64)
	put32(b[offPayloadLength:], uint32(len(payload)))
	copy(b[0x300:], release+" (me@here) #1 SMP\x00")
	return append(b, payload...)
}

// testBzImage is a kernel that QEMU can boot by PVH.
func testBzImage() []byte {
	vmlinux := vmlinuxOf(testRelease, pvhNote)
	return bzImageOf(testRelease, vmlinux, gzipped(vmlinux))
}

// moduleOf is a module without code.
func moduleOf(modinfo ...string) []byte {
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

// testModule is a module of testRelease.
func testModule(name string, depends ...string) []byte {
	return moduleOf("name="+name, "depends="+strings.Join(depends, ","), "vermagic="+testRelease+" SMP preempt mod_unload ")
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must(w.Write(data))
	check(w.Close())
	return b.Bytes()
}

func zstdCompressed(data []byte) []byte {
	w := must(zstd.NewWriter(nil))
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func xzCompressed(data []byte) []byte {
	var b bytes.Buffer
	w := must(xz.NewWriter(&b))
	must(w.Write(data))
	check(w.Close())
	return b.Bytes()
}

func lzmaCompressed(data []byte) []byte {
	var b bytes.Buffer
	w := must(lzma.NewWriter(&b))
	must(w.Write(data))
	check(w.Close())
	return b.Bytes()
}

func lz4Compressed(data []byte) []byte {
	const lz4Block = 8 << 20
	out := []byte(lz4Magic)
	for block := range slices.Chunk(data, lz4Block) {
		packed := make([]byte, lz4.CompressBlockBound(len(block)))
		n := must(lz4.CompressBlock(block, packed, nil))
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
		out = append(out, packed[:n]...)
	}
	return out
}

// files are those of an archive or a folder, by path.
type files map[string][]byte

// testFiles is a kernel as Debian lays it out, with the modules of most tests:
// veth, which needs nothing, and cls_bpf, which needs a and b.
func testFiles() files {
	dir := "usr/lib/modules/" + testRelease + "/"
	return files{
		"boot/vmlinuz-" + testRelease:            testBzImage(),
		"boot/config-" + testRelease:             []byte("CONFIG_BPF=y\n"),
		dir + "modules.builtin":                  []byte("kernel/drivers/virtio/virtio_pci.ko\nkernel/drivers/char/virtio_console.ko\n"),
		dir + "kernel/drivers/net/veth.ko":       testModule("veth"),
		dir + "kernel/net/sched/cls_bpf.ko.xz":   xzCompressed(testModule("cls_bpf", "a", "b-part")),
		dir + "kernel/net/sched/a.ko.zst":        zstdCompressed(testModule("a", "b_part")),
		dir + "kernel/net/sched/b-part.ko.gz":    gzipped(testModule("b_part")),
		"usr/share/doc/linux-image/changelog.gz": []byte("not of interest"),
	}
}

func tarOf(f files) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		check(w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(f[name])), Typeflag: tar.TypeReg}))
		must(w.Write(f[name]))
	}
	check(w.Close())
	return b.Bytes()
}

func arOf(members ...any) []byte {
	b := bytes.NewBufferString(arMagic)
	for pair := range slices.Chunk(members, 2) {
		data := pair[1].([]byte)
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d%s", pair[0], 0, 0, 0, 0o100644, len(data), arHeaderEnd)
		b.Write(data)
		if len(data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func debOf(f files) []byte {
	return arOf("debian-binary", []byte("2.0\n"), "control.tar.xz", xzCompressed(tarOf(nil)), "data.tar.xz", xzCompressed(tarOf(f)))
}

// writeFiles writes f below dir.
func writeFiles(dir string, f files) {
	for name, data := range f {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, data, 0o644))
	}
}

// writeTemp writes a file of that name for the test, and returns its path.
func writeTemp(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	check(os.WriteFile(file, data, 0o644))
	return file
}

// testKernel is the kernel of testFiles.
func testKernel() *Kernel {
	u := newUnpacked()
	check(u.addTar(bytes.NewReader(tarOf(testFiles()))))
	k := must(u.tree().load(""))
	k.Origin = "a test"
	return k
}

func moduleNames(modules []Module) (names []string) {
	for _, m := range modules {
		names = append(names, m.Name)
	}
	return names
}
