package insntest

import (
	"encoding/binary"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// maxMeta is the largest length of metadata before a packet.
const maxMeta = 255

const (
	xdpAborted  = 0
	xdpTX       = 3
	xdpRedirect = 4
	tcRedirect  = 7
	tcShot      = 2
	broadcast   = unix.BPF_F_BROADCAST
)

// packetHelper handles helpers that access the packet or send it elsewhere.
func (r *run) packetHelper(fn asm.BuiltinFunc, a [5]uint64) (uint64, error) {
	p := &r.packet
	by := int(int32(a[1]))
	switch fn {
	case asm.FnXdpAdjustHead:
		return p.adjustHead(by), nil
	case asm.FnXdpAdjustMeta:
		return p.adjustMeta(by), nil
	case asm.FnXdpAdjustTail:
		return p.adjustTail(by), nil
	case asm.FnXdpGetBuffLen:
		return uint64(p.end - p.start), nil
	case asm.FnSkbPullData:
		if int(uint32(a[1])) > p.end-p.start {
			return errno(unix.ENOMEM), nil
		}
		return 0, nil
	case asm.FnSkbLoadBytes, asm.FnXdpLoadBytes:
		return r.copyBytes(uint32(a[1]), a[2], uint32(a[3]), false)
	case asm.FnSkbStoreBytes, asm.FnXdpStoreBytes:
		if fn == asm.FnSkbStoreBytes && a[4] != 0 {
			return 0, unsupported("helper %s with flags", fn)
		}
		return r.copyBytes(uint32(a[1]), a[2], uint32(a[3]), true)
	case asm.FnRedirect:
		switch {
		case p.xdp && a[1] != 0:
			return xdpAborted, nil
		case p.xdp:
			return xdpRedirect, nil
		case a[1]&^unix.BPF_F_INGRESS != 0:
			return tcShot, nil
		}
		return tcRedirect, nil
	case asm.FnRedirectMap:
		return r.redirectMap(a)
	}
	return r.checksum(a)
}

func (p *packet) adjustHead(by int) uint64 {
	start := p.start + by
	length := p.start - p.meta
	if start < frameHead+length || start > p.end-etherHeader {
		return errno(unix.EINVAL)
	}
	// The metadata moves along.
	meta := append([]byte(nil), p.region.data[p.meta:p.start]...)
	p.start, p.meta = start, start-length
	copy(p.region.data[p.meta:], meta)
	p.limit()
	return 0
}

func (p *packet) adjustMeta(by int) uint64 {
	meta := p.meta + by
	length := p.start - meta
	switch {
	case meta < frameHead || meta > p.start:
		return errno(unix.EINVAL)
	case length&3 != 0 || length > maxMeta:
		return errno(unix.EACCES)
	}
	p.meta = meta
	p.limit()
	return 0
}

func (p *packet) adjustTail(by int) uint64 {
	end := p.end + by
	if end > len(p.region.data) || end < p.start+etherHeader {
		return errno(unix.EINVAL)
	}
	if by > 0 {
		clear(p.region.data[p.end:end])
	}
	p.end = end
	p.limit()
	return 0
}

// copyBytes copies from the packet, or into it.
func (r *run) copyBytes(at uint32, addr uint64, size uint32, into bool) (uint64, error) {
	data := r.packet.region.data[r.packet.start:r.packet.end]
	b, err := r.memory.bytes(addr, int(size))
	switch {
	case err != nil:
		return 0, err
	case uint64(at)+uint64(size) > uint64(len(data)):
		if r.packet.xdp {
			return errno(unix.EINVAL), nil
		}
		if !into {
			clear(b)
		}
		return errno(unix.EFAULT), nil
	case into:
		copy(data[at:], b)
	default:
		copy(b, data[at:])
	}
	return 0, nil
}

// redirectMap finds nothing in a map that only the kernel could fill.
func (r *run) redirectMap(a [5]uint64) (uint64, error) {
	t, err := r.table(a[0])
	switch {
	case err != nil:
		return 0, err
	case !t.isHollow() || len(t.initial) > 0:
		return 0, unsupported("a redirect by a map of type %s", t.typ)
	case a[2]&broadcast != 0 && (t.typ == ebpf.DevMap || t.typ == ebpf.DevMapHash):
		return xdpRedirect, nil
	case a[2] > xdpTX:
		return xdpAborted, nil
	}
	return a[2], nil
}

// checksum is bpf_csum_diff, folded to 16 bits as newer kernels do.
func (r *run) checksum(a [5]uint64) (uint64, error) {
	from, err := r.memory.bytes(a[0], int(uint32(a[1])))
	if err != nil {
		return 0, err
	}
	to, err := r.memory.bytes(a[2], int(uint32(a[3])))
	if err != nil {
		return 0, err
	}
	if len(from)%4 != 0 || len(to)%4 != 0 {
		return errno(unix.EINVAL), nil
	}
	sum := uint64(uint32(a[4]))
	for ; len(to) > 0; to = to[4:] {
		sum += uint64(binary.NativeEndian.Uint32(to))
	}
	for ; len(from) > 0; from = from[4:] {
		sum += uint64(^binary.NativeEndian.Uint32(from))
	}
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return sum, nil
}
