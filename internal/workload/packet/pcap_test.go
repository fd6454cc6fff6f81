package packet

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

func info(frame []byte) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: len(frame), Length: len(frame)}
}

func pcapOf(link layers.LinkType, frames ...[]byte) []byte {
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	workloadtest.Check(w.WriteFileHeader(65536, link))
	for _, frame := range frames {
		workloadtest.Check(w.WritePacket(info(frame), frame))
	}
	return file.Bytes()
}

func pcapngOf(link layers.LinkType, frames ...[]byte) []byte {
	var file bytes.Buffer
	w := workloadtest.Must(pcapgo.NewNgWriter(&file, link))
	for _, frame := range frames {
		workloadtest.Check(w.WritePacket(info(frame), frame))
	}
	workloadtest.Check(w.Flush())
	return file.Bytes()
}

// mixedPcapng has a packet of an Ethernet interface and one of another.
func mixedPcapng(frame []byte) []byte {
	var file bytes.Buffer
	w := workloadtest.Must(pcapgo.NewNgWriter(&file, layers.LinkTypeEthernet))
	workloadtest.Must(w.AddInterface(pcapgo.NgInterface{Name: "any", LinkType: layers.LinkTypeLinuxSLL}))
	workloadtest.Check(w.WritePacket(info(frame), frame))
	other := info(frame)
	other.InterfaceIndex = 1
	workloadtest.Check(w.WritePacket(other, frame))
	workloadtest.Check(w.Flush())
	return file.Bytes()
}

// cutPcap returns a capture of only the start of a packet.
func cutPcap(frame []byte) []byte {
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	workloadtest.Check(w.WriteFileHeader(20, layers.LinkTypeEthernet))
	cut := info(frame)
	cut.CaptureLength = 20
	workloadtest.Check(w.WritePacket(cut, frame[:20]))
	return file.Bytes()
}

func readOnly(data []byte) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return data, nil }
}

var pcapFrames = [][]byte{
	bytes.Repeat([]byte{1}, 60),
	bytes.Repeat([]byte{2}, 61),
	bytes.Repeat([]byte{3}, 1514),
}

func TestPacketsOfAPcap(t *testing.T) {
	for name, data := range map[string][]byte{
		"pcap":   pcapOf(layers.LinkTypeEthernet, pcapFrames...),
		"pcapng": pcapngOf(layers.LinkTypeEthernet, pcapFrames...),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Expand([]bench.Packet{{Pcap: "a.pcap"}}, readOnly(data))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, pcapFrames, bytes.Equal) {
				t.Errorf("got %x", got)
			}
		})
	}
}

func TestAPcapAsOtherToolsWriteIt(t *testing.T) {
	// Byte by byte from the format's description, in big-endian order.
	data, err := Hex(`
		a1b2c3d4 0002 0004 00000000 00000000 00040000 00000001
		65000000 00000000 0000000e 0000000e ffffffffffff 020000000001 0806`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Expand([]bench.Packet{{Pcap: "a.pcap"}}, readOnly(data))
	if err != nil || len(got) != 1 || !bytes.Equal(got[0], data[40:]) {
		t.Errorf("got %x, error %v", got, err)
	}
}

func TestPcapsThatAreRefused(t *testing.T) {
	frame := pcapFrames[0]
	many := slices.Repeat([][]byte{frame}, bench.MaxPackets+1)
	for name, tc := range map[string]struct {
		data []byte
		want []string
	}{
		"an empty file":           {nil, []string{"read pcap a.pcap", "it is empty"}},
		"half a header":           {pcapOf(layers.LinkTypeEthernet)[:12], []string{"read pcap a.pcap: it is truncated"}},
		"another version":         {slices.Concat(pcapOf(layers.LinkTypeEthernet)[:4], []byte{9, 0}, pcapOf(layers.LinkTypeEthernet)[6:]), []string{"a version that is not known: major version 9"}},
		"no gzip after its magic": {[]byte("\x1f\x8bThis is a text, and no gzip file."), []string{"it cannot be decompressed"}},
		"a text":                  {[]byte("This file is a text, not a capture."), []string{"read pcap a.pcap: it is no capture"}},
		"no packets":              {pcapOf(layers.LinkTypeEthernet), []string{"read pcap a.pcap", "no packets"}},
		"no packets, ng":          {pcapngOf(layers.LinkTypeEthernet), []string{"read pcap a.pcap", "no packets"}},
		"another link type":       {pcapOf(layers.LinkTypeLinuxSLL, frame), []string{"a.pcap: packet 1", "Linux SLL (113), not Ethernet"}},
		"another link type, ng":   {pcapngOf(layers.LinkTypeRaw, frame), []string{"a.pcap: packet 1", "Raw (101), not Ethernet"}},
		"an unknown link type":    {pcapOf(147, frame), []string{"(147), not Ethernet"}},
		"two link types":          {mixedPcapng(frame), []string{"a.pcap: packet 2", "Linux SLL (113)"}},
		"the beginning":           {cutPcap(frame), []string{"a.pcap: packet 1", "captured only 20 of 60 bytes"}},
		"a frame of a few bytes":  {pcapOf(layers.LinkTypeEthernet, frame, frame[:9]), []string{"frame 2 has 9 bytes"}},
		"too many packets":        {pcapOf(layers.LinkTypeEthernet, many...), []string{"more than 4096 packets"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Expand([]bench.Packet{{Pcap: "a.pcap"}}, readOnly(tc.data))
			workloadtest.WantError(t, err, append(tc.want, "packet 1: ")...)
		})
	}
}

func TestATruncatedPcapIsRefusedWhereverItEnds(t *testing.T) {
	for name, of := range map[string]func(layers.LinkType, ...[]byte) []byte{
		"pcap":   pcapOf,
		"pcapng": pcapngOf,
	} {
		t.Run(name, func(t *testing.T) {
			one, two := of(layers.LinkTypeEthernet, pcapFrames[0]), of(layers.LinkTypeEthernet, pcapFrames[:2]...)
			for n := range two {
				_, err := parsePcap(two[:n], bench.MaxPackets)
				if whole := n == len(one); (err == nil) != whole {
					t.Errorf("%d of %d bytes: error %v", n, len(two), err)
				}
			}
		})
	}
}

func FuzzPcap(f *testing.F) {
	for _, frames := range [][][]byte{nil, pcapFrames[:1], pcapFrames[:2]} {
		f.Add(pcapOf(layers.LinkTypeEthernet, frames...))
		f.Add(pcapngOf(layers.LinkTypeEthernet, frames...))
	}
	f.Add(mixedPcapng(pcapFrames[0]))
	f.Add(cutPcap(pcapFrames[0]))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := Expand([]bench.Packet{{Pcap: "a.pcap"}}, readOnly(data))
		if err != nil {
			return
		}
		if len(frames) == 0 || len(frames) > bench.MaxPackets {
			t.Errorf("%d packets without an error", len(frames))
		}
		for _, frame := range frames {
			if len(frame) < MinFrame {
				t.Errorf("frame has %d bytes", len(frame))
			}
		}
	})
}

func ExampleExpand() {
	frames, err := Expand([]bench.Packet{
		{IPv4: &bench.IP{}, UDP: &bench.UDP{Dst: 53}, Sizes: bench.Sizes{64, 1514}},
	}, nil)
	if err != nil {
		panic(err)
	}
	for _, frame := range frames {
		fmt.Printf("%d bytes: %x…\n", len(frame), frame[:14])
	}
	// Output:
	// 64 bytes: 0200000000020200000000010800…
	// 1514 bytes: 0200000000020200000000010800…
}
