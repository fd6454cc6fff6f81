package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
)

// format is the kind of a kernel image.
type format int

const (
	formatBzImage format = iota + 1
	formatVmlinux
	formatArm64
)

// image is a kernel image whose format is known.
type image struct {
	format format
	read   func() ([]byte, error)
}

func imageOf(data []byte, f format) image {
	return image{f, func() ([]byte, error) { return data, nil }}
}

// description is what an image says of itself.
type description struct {
	format  format
	arch    string
	release string
}

// errNotKernel is ErrUnknown: what a user names as a kernel is none.
var errNotKernel error = unknownError("not a Linux kernel image")

// describe finds out what kind of image data is, and of which kernel.
func describe(data []byte) (description, error) {
	switch {
	case isBzImage(data):
		return describeBzImage(data)
	case bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return describeVmlinux(data)
	case isArm64(data):
		return describeArm64(data)
	default:
		return description{}, errNotKernel
	}
}

// beginsAsImage tells whether describe may know the data that begins so.
func beginsAsImage(head []byte) bool {
	return isBzImage(head) || bytes.HasPrefix(head, []byte(elf.ELFMAG)) || isArm64(head)
}

var elfArch = map[elf.Machine]string{
	elf.EM_X86_64:  "amd64",
	elf.EM_AARCH64: "arm64",
}

func describeVmlinux(data []byte) (description, error) {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return description{}, fmt.Errorf("read vmlinux: %w", unexpectedEOF(err))
	}
	arch, ok := elfArch[file.Machine]
	if !ok || file.Type != elf.ET_EXEC && file.Type != elf.ET_DYN {
		return description{}, fmt.Errorf("%w: ELF %s for %s", errNotKernel, file.Type, file.Machine)
	}
	release, err := findRelease(data)
	if err != nil {
		return description{}, err
	}
	return description{formatVmlinux, arch, release}, nil
}

// banner is how /proc/version begins. Every uncompressed kernel contains it.
var banner = regexp.MustCompile(`Linux version (\d[0-9A-Za-z.+_~-]*) \(`)

// findRelease is the release of an uncompressed kernel.
func findRelease(data []byte) (string, error) {
	if m := banner.FindSubmatch(data); m != nil {
		return checkRelease(string(m[1]))
	}
	return "", fmt.Errorf("%w: no Linux version in it", errNotKernel)
}

// The kernel itself allows no longer release, and a release names files here.
var releaseForm = regexp.MustCompile(`^\d+\.\d+[0-9A-Za-z.+_~-]{0,58}$`)

func checkRelease(release string) (string, error) {
	if !releaseForm.MatchString(release) {
		return "", fmt.Errorf("kernel release reads %q", release)
	}
	return release, nil
}

// extractVmlinux is the ELF kernel within an image, if QEMU can boot that.
func extractVmlinux(data []byte, f format) ([]byte, error) {
	var err error
	switch f {
	case formatBzImage:
		if data, err = unpackBzImage(data); err != nil {
			return nil, err
		}
	case formatVmlinux:
	default:
		return nil, ErrNoPVH
	}
	return data, checkPVH(data)
}

const arm64Magic = "ARM\x64"

// isArm64 knows an Image by the magic of its header, compressed or not.
func isArm64(data []byte) bool {
	return len(data) >= 64 && string(data[56:60]) == arm64Magic ||
		isZboot(data) || bytes.HasPrefix(data, []byte(gzipMagic))
}

func isZboot(data []byte) bool {
	return len(data) >= 64 && string(data[:2]) == "MZ" && string(data[4:8]) == "zimg"
}

func describeArm64(data []byte) (description, error) {
	raw := data
	var err error
	switch {
	case isZboot(data):
		start, size := binary.LittleEndian.Uint32(data[8:]), binary.LittleEndian.Uint32(data[12:])
		if uint64(start)+uint64(size) > uint64(len(data)) {
			return description{}, errors.New("payload lies outside the file")
		}
		raw, err = decompress(data[start:][:size], maxImage)
	case bytes.HasPrefix(data, []byte(gzipMagic)):
		raw, err = decompress(data, maxImage)
	}
	if err != nil {
		return description{}, fmt.Errorf("unpack arm64 image: %w", err)
	}
	if len(raw) < 64 || string(raw[56:60]) != arm64Magic {
		return description{}, errNotKernel
	}
	release, err := findRelease(raw)
	if err != nil {
		return description{}, err
	}
	return description{formatArm64, "arm64", release}, nil
}
