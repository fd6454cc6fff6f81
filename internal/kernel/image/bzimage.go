package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Offsets of the fields of the setup header in a bzImage. See
// Documentation/arch/x86/boot.rst in the kernel's sources.
const (
	offSetupSects     = 0x1f1
	offBootFlag       = 0x1fe
	offHeader         = 0x202
	offVersion        = 0x206
	offKernelVersion  = 0x20e
	offXLoadFlags     = 0x236
	offPayloadOffset  = 0x248
	offPayloadLength  = 0x24c
	endOfSetupHeader  = 0x250
	sectorSize        = 512
	bootFlag          = 0xaa55
	minPayloadVersion = 0x0208 // the first protocol with a payload_offset
	minFlagsVersion   = 0x020c // the first protocol with xloadflags
	kernel64          = 1      // XLF_KERNEL_64
)

func isBzImage(data []byte) bool {
	return len(data) >= endOfSetupHeader &&
		string(data[offHeader:offHeader+4]) == "HdrS" &&
		binary.LittleEndian.Uint16(data[offBootFlag:]) == bootFlag
}

func describeBzImage(data []byte) (Description, error) {
	version := binary.LittleEndian.Uint16(data[offVersion:])
	if version >= minFlagsVersion && data[offXLoadFlags]&kernel64 == 0 {
		return Description{}, errors.New("bzImage is a 32-bit kernel")
	}
	at := int(binary.LittleEndian.Uint16(data[offKernelVersion:])) + sectorSize
	if at == sectorSize || at >= len(data) {
		return Description{}, errors.New("bzImage names no kernel version")
	}
	text, _, ok := bytes.Cut(data[at:min(at+sectorSize, len(data))], []byte{0})
	if !ok {
		return Description{}, errors.New("bzImage names no kernel version")
	}
	name, _, _ := bytes.Cut(text, []byte(" "))
	release, err := uname.Check(string(name))
	if err != nil {
		return Description{}, err
	}
	return Description{BzImage, "amd64", release}, nil
}

// unpackBzImage returns the vmlinux that a bzImage unpacks when it boots.
func unpackBzImage(data []byte) ([]byte, error) {
	payload, err := payloadOf(data)
	if err != nil {
		return nil, err
	}
	// All formats except gzip, which includes it, are followed by the uncompressed size.
	size := binary.LittleEndian.Uint32(payload[len(payload)-4:])
	if !bytes.HasPrefix(payload, []byte(untrusted.GzipMagic)) {
		payload = payload[:len(payload)-4]
	}
	vmlinux, err := untrusted.Decompress(payload, untrusted.MaxImage)
	if err != nil {
		return nil, fmt.Errorf("unpack bzImage: %w", err)
	}
	if uint64(len(vmlinux)) != uint64(size) {
		return nil, fmt.Errorf("unpack bzImage: %d bytes instead of %d", len(vmlinux), size)
	}
	return vmlinux, nil
}

func payloadOf(data []byte) ([]byte, error) {
	if v := binary.LittleEndian.Uint16(data[offVersion:]); v < minPayloadVersion {
		return nil, fmt.Errorf("bzImage speaks boot protocol %d.%d, older than 2.8", v>>8, v&0xff)
	}
	sectors := int64(data[offSetupSects])
	if sectors == 0 {
		sectors = 4 // the default of the protocol
	}
	start := (sectors+1)*sectorSize + int64(binary.LittleEndian.Uint32(data[offPayloadOffset:]))
	size := int64(binary.LittleEndian.Uint32(data[offPayloadLength:]))
	if size < 8 || start+size > int64(len(data)) {
		return nil, fmt.Errorf("bzImage is truncated: payload of %d bytes at %d, file of %d", size, start, len(data))
	}
	return data[start:][:size], nil
}
