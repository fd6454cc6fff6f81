// Package packet builds packets from their descriptions: frames from hex,
// headers and captures, and the contexts of programs that look up sockets.
package packet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// MinFrame is the length of an Ethernet header, below which the kernel refuses
// to run a program.
const MinFrame = 14

// Expand expands descriptions to frames, in their order. It reads the pcap
// files that they name with readFile.
func Expand(descs []bench.Packet, readFile func(name string) ([]byte, error)) ([][]byte, error) {
	var frames [][]byte
	for i := range descs {
		more, err := expand(&descs[i], bench.MaxPackets-len(frames), readFile)
		if err != nil {
			return nil, fmt.Errorf("packet %d: %w", i+1, err)
		}
		frames = append(frames, more...)
	}
	return frames, nil
}

// expand returns the frames of one description, at most room.
func expand(desc *bench.Packet, room int, readFile func(name string) ([]byte, error)) ([][]byte, error) {
	kinds := kindsOf(desc)
	switch {
	case len(kinds) == 0:
		return nil, errors.New("describes nothing: it takes hex, pcap or headers (eth, ipv4, ipv6, udp, tcp)")
	case len(kinds) > 1:
		return nil, fmt.Errorf("has %s: it takes exactly one of hex, pcap and headers", strings.Join(kinds, " and "))
	case len(desc.Sizes) > 0 && kinds[0] != "headers":
		return nil, fmt.Errorf("size goes with headers, not with %s", kinds[0])
	}

	var frames [][]byte
	var err error
	switch kinds[0] {
	case "hex":
		frames = make([][]byte, 1)
		frames[0], err = Hex(desc.Hex)
	case "pcap":
		frames, err = readPcap(desc.Pcap, room, readFile)
	case "headers":
		frames, err = buildFrames(desc, room)
	}
	if err != nil {
		return nil, err
	}

	if len(frames) > room {
		return nil, errTooManyPackets
	}
	for i, frame := range frames {
		if len(frame) < MinFrame {
			return nil, fmt.Errorf("frame %d has %d bytes, fewer than the %d of an Ethernet header", i+1, len(frame), MinFrame)
		}
	}
	return frames, nil
}

var errTooManyPackets = bench.WithHint(
	fmt.Errorf("more than %d packets in all", bench.MaxPackets),
	"each packet costs a system call a round: narrow the source addresses or list fewer sizes")

// kindsOf names the ways in which a description describes its packets.
func kindsOf(desc *bench.Packet) []string {
	var kinds []string
	if desc.Hex != "" {
		kinds = append(kinds, "hex")
	}
	if desc.Pcap != "" {
		kinds = append(kinds, "pcap")
	}
	if desc.Eth != nil || desc.IPv4 != nil || desc.IPv6 != nil || desc.UDP != nil || desc.TCP != nil {
		kinds = append(kinds, "headers")
	}
	return kinds
}

// Hex reads bytes in the forms that people paste: separated by white space or
// colons or not, with 0x or without. Each group holds whole bytes, because "4
// 5" may be one byte or two.
func Hex(s string) ([]byte, error) {
	var frame []byte
	for _, group := range strings.Fields(strings.ReplaceAll(s, ":", " ")) {
		digits := strings.TrimPrefix(strings.ToLower(group), "0x")
		b, err := hex.DecodeString(digits)
		if errors.Is(err, hex.ErrLength) {
			return nil, fmt.Errorf("read hex: %q has an odd number of digits", group)
		}
		if err != nil {
			return nil, fmt.Errorf("read hex: %q has other characters than 0-9 and a-f", group)
		}
		frame = append(frame, b...)
	}
	return frame, nil
}
