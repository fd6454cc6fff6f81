// Package image reads the description in a kernel image, which is a bzImage, a vmlinux or
// an arm64 Image, and finds the ELF kernel within it that QEMU boots by PVH.
package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Format is the kind of a kernel image.
type Format int

// The formats of images.
const (
	BzImage Format = iota + 1
	ELF
	Arm64
)

// Description is an image's description of itself.
type Description struct {
	Format  Format
	Arch    string
	Release string
}

// ErrNoPVH says that a kernel has no vmlinux that QEMU can boot. Its image still boots,
// but more slowly.
var ErrNoPVH = errors.New("kernel has no PVH entry point")

// ErrNotKernel says that data is not a kernel at all.
var ErrNotKernel = errors.New("not a Linux kernel image")

// Describe returns the kind of the image in data, and its kernel.
func Describe(data []byte) (Description, error) {
	switch {
	case isBzImage(data):
		return describeBzImage(data)
	case bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return describeVmlinux(data)
	case isArm64(data):
		return describeArm64(data)
	default:
		return Description{}, ErrNotKernel
	}
}

// HeadSize is how many bytes of an image Begins needs.
const HeadSize = endOfSetupHeader

// Begins reports whether Describe may recognize data that begins with head.
func Begins(head []byte) bool {
	return isBzImage(head) || bytes.HasPrefix(head, []byte(elf.ELFMAG)) || isArm64(head)
}

// IsArch reports whether there are images for an architecture, as Go spells it.
func IsArch(arch string) bool { return slices.Contains(slices.Collect(maps.Values(elfArch)), arch) }

var elfArch = map[elf.Machine]string{
	elf.EM_X86_64:  "amd64",
	elf.EM_AARCH64: "arm64",
}

func describeVmlinux(data []byte) (Description, error) {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return Description{}, fmt.Errorf("read vmlinux: %w", untrusted.UnexpectedEOF(err))
	}
	arch, ok := elfArch[file.Machine]
	if !ok || file.Type != elf.ET_EXEC && file.Type != elf.ET_DYN {
		return Description{}, fmt.Errorf("%w: ELF %s for %s", ErrNotKernel, file.Type, file.Machine)
	}
	release, err := findRelease(data)
	if err != nil {
		return Description{}, err
	}
	return Description{ELF, arch, release}, nil
}

// banner matches the beginning of /proc/version, which every uncompressed kernel contains.
var banner = regexp.MustCompile(`Linux version (\d[0-9A-Za-z.+_~-]*) \(`)

// findRelease returns the release of an uncompressed kernel.
func findRelease(data []byte) (string, error) {
	if m := banner.FindSubmatch(data); m != nil {
		return uname.Check(string(m[1]))
	}
	return "", fmt.Errorf("%w: no Linux version in it", ErrNotKernel)
}

// Vmlinux returns the ELF kernel within an image, if QEMU can boot that.
func Vmlinux(data []byte, f Format) ([]byte, error) {
	var err error
	switch f {
	case BzImage:
		if data, err = unpackBzImage(data); err != nil {
			return nil, err
		}
	case ELF:
	default:
		return nil, ErrNoPVH
	}
	return data, checkPVH(data)
}

const arm64Magic = "ARM\x64"

// isArm64 reports whether data is an arm64 Image by the magic of its header, or
// compressed.
func isArm64(data []byte) bool {
	return len(data) >= 64 && string(data[56:60]) == arm64Magic ||
		isZboot(data) || bytes.HasPrefix(data, []byte(untrusted.GzipMagic))
}

func isZboot(data []byte) bool {
	return len(data) >= 64 && string(data[:2]) == "MZ" && string(data[4:8]) == "zimg"
}

func describeArm64(data []byte) (Description, error) {
	raw := data
	var err error
	switch {
	case isZboot(data):
		start, size := binary.LittleEndian.Uint32(data[8:]), binary.LittleEndian.Uint32(data[12:])
		if uint64(start)+uint64(size) > uint64(len(data)) {
			return Description{}, errors.New("payload lies outside the file")
		}
		raw, err = untrusted.Decompress(data[start:][:size], untrusted.MaxImage)
	case bytes.HasPrefix(data, []byte(untrusted.GzipMagic)):
		raw, err = untrusted.Decompress(data, untrusted.MaxImage)
	}
	if err != nil {
		return Description{}, fmt.Errorf("unpack arm64 image: %w", err)
	}
	if len(raw) < 64 || string(raw[56:60]) != arm64Magic {
		return Description{}, ErrNotKernel
	}
	release, err := findRelease(raw)
	if err != nil {
		return Description{}, err
	}
	return Description{Arm64, "arm64", release}, nil
}
