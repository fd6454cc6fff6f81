package packet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// readPcap returns the packets of a pcap or pcapng file, at most one more than
// room.
func readPcap(name string, room int, readFile func(name string) ([]byte, error)) ([][]byte, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("read pcap: %w", err)
	}
	frames, err := parsePcap(data, room)
	if err != nil {
		return nil, fmt.Errorf("read pcap %s: %w", name, err)
	}
	return frames, nil
}

func parsePcap(data []byte, room int) ([][]byte, error) {
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	file, err := openPcap(data)
	if err != nil {
		return nil, reword(err)
	}
	var frames [][]byte
	for len(frames) <= room {
		frame, info, err := file.ReadPacketData()
		// An end of file after a packet's header is not a clean one.
		if errors.Is(err, io.EOF) && info.CaptureLength == 0 {
			break
		}
		if err == nil {
			err = checkCaptured(info, file.linkType(info))
		}
		if err != nil {
			return nil, fmt.Errorf("packet %d: %w", len(frames)+1, reword(err))
		}
		frames = append(frames, frame)
	}
	if len(frames) == 0 {
		return nil, errors.New("no packets")
	}
	return frames, nil
}

// reword says in other words what the libraries refuse.
func reword(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is truncated")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("it cannot be decompressed: %w", err)
	case strings.HasPrefix(err.Error(), "Unknown magic"):
		return errors.New("it is no capture: it begins neither as pcap nor as pcapng does")
	case strings.HasPrefix(err.Error(), "Unknown m"):
		return fmt.Errorf("it is of a version that is not known: %s", strings.ToLower(strings.TrimPrefix(err.Error(), "Unknown ")))
	}
	return err
}

func checkCaptured(info gopacket.CaptureInfo, link layers.LinkType) error {
	if link != layers.LinkTypeEthernet {
		return fmt.Errorf("link type is %s (%d), not Ethernet", link, uint16(link))
	}
	if info.CaptureLength < info.Length {
		return bench.WithHint(
			fmt.Errorf("captured only %d of %d bytes", info.CaptureLength, info.Length),
			"capture whole packets: tcpdump -s 0")
	}
	return nil
}

// pcapFile is what the two formats share: pcap has one link type, pcapng one
// for each interface.
type pcapFile struct {
	gopacket.PacketDataSource
	linkType func(gopacket.CaptureInfo) layers.LinkType
}

// pcapngMagic is the type of the block at the start of a pcapng file, a
// palindrome, so that it reads alike in both byte orders.
const pcapngMagic = 0x0a0d0d0a

func openPcap(data []byte) (*pcapFile, error) {
	if len(data) >= 4 && binary.BigEndian.Uint32(data) == pcapngMagic {
		r, err := pcapgo.NewNgReader(bytes.NewReader(data), pcapgo.NgReaderOptions{WantMixedLinkType: true})
		if err != nil {
			return nil, err
		}
		return &pcapFile{r, func(info gopacket.CaptureInfo) layers.LinkType {
			return info.AncillaryData[0].(layers.LinkType)
		}}, nil
	}
	r, err := pcapgo.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return &pcapFile{r, func(gopacket.CaptureInfo) layers.LinkType { return r.LinkType() }}, nil
}

// WritePcap writes whole frames as a capture of an Ethernet interface, a microsecond apart
// from the epoch on.
func WritePcap(w io.Writer, frames [][]byte) error {
	out := pcapgo.NewWriter(w)
	if err := out.WriteFileHeader(snapLen, layers.LinkTypeEthernet); err != nil {
		return err
	}
	for i, frame := range frames {
		at := time.UnixMicro(int64(i))
		if err := out.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(frame), Length: len(frame)}, frame); err != nil {
			return err
		}
	}
	return nil
}

// snapLen is the most that captures hold of a frame, as tcpdump's by default.
const snapLen = 262144
