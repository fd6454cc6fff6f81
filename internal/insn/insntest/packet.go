package insntest

import (
	"encoding/binary"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The room that BPF_PROG_TEST_RUN leaves around a packet.
const (
	pageSize     = 4096
	headroom     = 256 // before the data of an XDP program
	tailroom     = 320 // for struct skb_shared_info
	frameHead    = 40  // struct xdp_frame
	etherHeader  = 14
	minimalFrame = etherHeader
)

// packet is the packet that the context describes.
type packet struct {
	xdp              bool
	addr             uint64 // of the room
	region           *region
	meta, start, end int // offsets in the room
	// linkLayer reports whether the program sees the Ethernet header.
	linkLayer bool
	fields    map[int]uint32 // of a socket buffer, by offset
}

// open lays out the packet and the context of a run.
func (r *run) open(t ebpf.ProgramType) error {
	n := len(r.in.Data)
	if n < minimalFrame || n > pageSize-headroom-tailroom {
		return unsupported("a packet of %d bytes", n)
	}
	p := &r.packet
	switch {
	case t == ebpf.XDP:
		p.xdp = true
	case isSocketBuffer(t):
		p.linkLayer = t == ebpf.SchedCLS || t == ebpf.SchedACT
		p.describe(r.in.Data)
	default:
		return unsupported("programs of type %s", t)
	}
	addr, err := r.alloc(pageSize - tailroom)
	if err != nil {
		return err
	}
	p.addr, p.start, p.end = addr, headroom, headroom+n
	if !p.xdp && !p.linkLayer {
		p.start += etherHeader
	}
	p.meta = p.start
	p.region, _, _ = r.memory.at(addr)
	copy(p.region.data[headroom:], r.in.Data)
	p.limit()
	r.context, err = r.memory.add(&region{context: true})
	r.garbage = append(r.garbage, r.context)
	return err
}

// limit lets the program access only the packet.
func (p *packet) limit() { p.region.lo, p.region.hi = p.meta, p.end }

func (p *packet) result(retval uint32) Result {
	d := slices.Clone(p.region.data[p.start:p.end])
	if !p.xdp && !p.linkLayer {
		// The kernel prepends a blank header if the program saw none.
		d = append(make([]byte, etherHeader), d...)
	}
	return Result{Retval: retval, Data: d, Meta: slices.Clone(p.region.data[p.meta:p.start])}
}

// Fields of struct xdp_md.
const (
	xdpData    = 0
	xdpDataEnd = 4
	xdpMeta    = 8
	xdpIfindex = 12
	xdpQueue   = 16
)

// Fields of struct __sk_buff.
const (
	skbLen         = 0
	skbType        = 4
	skbMark        = 8
	skbQueue       = 12
	skbProtocol    = 16
	skbVLANPresent = 20
	skbVLAN        = 24
	skbVLANProto   = 28
	skbPriority    = 32
	skbIngress     = 36
	skbIfindex     = 40
	skbTCIndex     = 44
	skbCB          = 48
	skbCBEnd       = 68
	skbHash        = 68
	skbClassID     = 72
	skbData        = 76
	skbDataEnd     = 80
	skbDataMeta    = 140
)

// loopback is the interface from which test_run's packets seem to come.
const loopback = 1

// describe fills in what the kernel derives from a frame.
func (p *packet) describe(frame []byte) {
	protocol := frame[12:14]
	if binary.BigEndian.Uint16(protocol) < 0x600 {
		protocol = []byte{0, 4} // 802.2
		if frame[14%len(frame)] == 0xff && len(frame) > 15 && frame[15] == 0xff {
			protocol = []byte{0, 1} // 802.3
		}
	}
	p.fields = map[int]uint32{
		skbType: kindOf(frame), skbProtocol: uint32(load([]byte{protocol[0], protocol[1]})), skbIfindex: loopback,
		skbMark: 0, skbQueue: 0, skbVLANPresent: 0, skbVLAN: 0, skbVLANProto: 0, skbPriority: 0,
		skbIngress: 0, skbTCIndex: 0, skbHash: 0, skbClassID: 0,
	}
	for off := skbCB; off < skbCBEnd; off += 4 {
		p.fields[off] = 0
	}
}

// kindOf returns PACKET_HOST, BROADCAST, MULTICAST or OTHERHOST, as seen from
// the loopback interface.
func kindOf(frame []byte) uint32 {
	to := frame[:6]
	switch {
	case !slices.ContainsFunc(to, func(b byte) bool { return b != 0 }):
		return 0
	case !slices.ContainsFunc(to, func(b byte) bool { return b != 0xff }):
		return 1
	case to[0]&1 != 0:
		return 2
	}
	return 3
}

// field reads a field of the context, or a part of one.
func (p *packet) field(off, size int) (uint64, error) {
	whole := off &^ 3
	if pointer, ok := p.pointer(whole); ok {
		if off != whole || size != 4 {
			return 0, fault("%d bytes of a pointer", size)
		}
		return pointer, nil
	}
	v, ok := p.value(whole)
	if !ok || size > 4 || off < 0 || off+size > whole+4 {
		return 0, unsupported("%d bytes at %d of the context", size, off)
	}
	b := make([]byte, 4)
	store(b, uint64(v))
	return load(b[off-whole:][:size]), nil
}

func (p *packet) pointer(off int) (uint64, bool) {
	data, end, meta := skbData, skbDataEnd, skbDataMeta
	if p.xdp {
		data, end, meta = xdpData, xdpDataEnd, xdpMeta
	}
	switch off {
	case data:
		return p.addr + uint64(p.start), true
	case end:
		return p.addr + uint64(p.end), true
	case meta:
		return p.addr + uint64(p.meta), true
	}
	return 0, false
}

func (p *packet) value(off int) (uint32, bool) {
	switch {
	case !p.xdp && off == skbLen:
		return uint32(p.end - p.start), true
	case !p.xdp:
		v, ok := p.fields[off]
		return v, ok
	case off == xdpIfindex:
		return loopback, true
	case off == xdpQueue:
		return 0, true
	}
	return 0, false
}

// setField writes a field of the context that programs may write.
func (p *packet) setField(off, size int, v uint64) error {
	writable := !p.xdp && (off == skbMark || off == skbPriority || off == skbTCIndex || off == skbClassID || off >= skbCB && off < skbCBEnd)
	switch {
	case !writable, off%4 != 0, size != 4 && size != 8, size == 8 && (off < skbCB || off+8 > skbCBEnd):
		return unsupported("a write of %d bytes at %d of the context", size, off)
	}
	p.fields[off] = uint32(v)
	if size == 8 {
		b := make([]byte, 8)
		store(b, v)
		p.fields[off], p.fields[off+4] = uint32(load(b[:4])), uint32(load(b[4:]))
	}
	return nil
}

// legacyLoad is ld_abs or ld_ind: a load outside of the packet ends the
// program.
func (r *run) legacyLoad(f *frame, ins *asm.Instruction) (done bool, err error) {
	at := int64(int32(ins.Constant))
	size := ins.OpCode.Size().Sizeof()
	mode := ins.OpCode.Mode()
	switch {
	case r.packet.xdp || size > 4 || mode != asm.AbsMode && mode != asm.IndMode:
		return false, unsupported("load %s", ins.OpCode)
	case mode == asm.IndMode && ins.Src > asm.R10:
		return false, fault("instruction %d names a register that is none", f.at)
	case mode == asm.IndMode:
		at = int64(int32(uint32(at) + uint32(f.r[ins.Src])))
	}
	if at < 0 {
		return false, unsupported("load %s before the packet", ins.OpCode)
	}
	data := r.packet.region.data[r.packet.start:r.packet.end]
	if at > int64(len(data)-size) {
		return true, nil
	}
	var v uint64
	for _, b := range data[at:][:size] {
		v = v<<8 | uint64(b)
	}
	f.r[0] = v
	return false, nil
}
