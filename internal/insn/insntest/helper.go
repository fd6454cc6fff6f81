package insntest

import (
	"bytes"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// helper does what a helper of the kernel does, and returns its result for R0.
func (r *run) helper(f *frame, fn asm.BuiltinFunc, a [5]uint64) (uint64, error) {
	switch fn {
	case asm.FnMapLookupElem, asm.FnMapUpdateElem, asm.FnMapDeleteElem,
		asm.FnMapPushElem, asm.FnMapPopElem, asm.FnMapPeekElem, asm.FnMapLookupPercpuElem:
		return r.mapHelper(fn, a)
	case asm.FnRingbufOutput, asm.FnRingbufReserve, asm.FnRingbufSubmit, asm.FnRingbufDiscard, asm.FnPerfEventOutput:
		return r.eventHelper(fn, a)
	case asm.FnLoop, asm.FnForEachMapElem:
		return r.loopHelper(f, fn, a)
	case asm.FnXdpAdjustHead, asm.FnXdpAdjustMeta, asm.FnXdpAdjustTail, asm.FnXdpGetBuffLen,
		asm.FnSkbLoadBytes, asm.FnXdpLoadBytes, asm.FnSkbStoreBytes, asm.FnXdpStoreBytes, asm.FnSkbPullData,
		asm.FnRedirect, asm.FnRedirectMap, asm.FnCsumDiff:
		return r.packetHelper(fn, a)
	case asm.FnKtimeGetNs, asm.FnKtimeGetBootNs, asm.FnKtimeGetCoarseNs, asm.FnKtimeGetTaiNs:
		if r.in.Time == nil {
			return 0, unsupported("helper %s", fn)
		}
		return r.in.Time(), nil
	case asm.FnGetPrandomU32:
		if r.in.Random == nil {
			return 0, unsupported("helper %s", fn)
		}
		return uint64(r.in.Random()), nil
	case asm.FnGetSmpProcessorId:
		return uint64(r.in.CPU), nil
	case asm.FnGetNumaNodeId, asm.FnSpinLock, asm.FnSpinUnlock, asm.FnTracePrintk, asm.FnTraceVprintk:
		return 0, nil
	case asm.FnStrncmp:
		return r.compare(a)
	}
	return 0, unsupported("helper %s", fn)
}

func (r *run) mapHelper(fn asm.BuiltinFunc, a [5]uint64) (uint64, error) {
	t, err := r.table(a[0])
	if err != nil {
		return 0, err
	}
	if fn == asm.FnMapPushElem || fn == asm.FnMapPopElem || fn == asm.FnMapPeekElem {
		if t.typ != ebpf.Queue && t.typ != ebpf.Stack {
			return 0, unsupported("helper %s on a map of type %s", fn, t.typ)
		}
		value, err := r.memory.bytes(a[1], t.valueSize)
		switch {
		case err != nil:
			return 0, err
		case fn == asm.FnMapPushElem:
			return t.push(value, a[2]), nil
		}
		return t.pop(value, fn == asm.FnMapPeekElem), nil
	}
	key, err := r.memory.bytes(a[1], t.keySize)
	if err != nil {
		return 0, err
	}
	var code, old uint64
	switch fn {
	case asm.FnMapLookupElem:
		return t.lookup(&r.memory, key)
	case asm.FnMapLookupPercpuElem:
		if uint32(a[2]) != r.in.CPU {
			return 0, unsupported("the value of another CPU")
		}
		return t.lookup(&r.memory, key)
	case asm.FnMapDeleteElem:
		code, old, err = t.remove(key)
	default:
		var value []byte
		if value, err = r.memory.bytes(a[2], t.valueSize); err != nil {
			return 0, err
		}
		code, old, err = t.update(&r.memory, key, value, a[3])
	}
	if old != 0 {
		r.garbage = append(r.garbage, old)
	}
	return code, err
}

// eventHelper handles helpers that send events: nobody reads, so room runs out.
func (r *run) eventHelper(fn asm.BuiltinFunc, a [5]uint64) (uint64, error) {
	switch fn {
	case asm.FnRingbufSubmit, asm.FnRingbufDiscard:
		return 0, nil
	case asm.FnPerfEventOutput:
		a[0] = a[1]
	}
	t, err := r.table(a[0])
	if err != nil {
		return 0, err
	}
	switch {
	case fn == asm.FnPerfEventOutput:
		// A map without events has none for this CPU.
		const index, context = 1<<32 - 1, 0xfffff << 32
		if a[2]&^(index|context) != 0 {
			return errno(unix.EINVAL), nil
		}
		return errno(unix.ENOENT), nil
	case t.typ != ebpf.RingBuf:
		return 0, unsupported("helper %s on a map of type %s", fn, t.typ)
	case fn == asm.FnRingbufOutput:
		if !t.reserve(a[2]) {
			return errno(unix.EAGAIN), nil
		}
		return 0, nil
	case !t.reserve(a[1]):
		return 0, nil
	}
	return r.alloc(int(a[1]))
}

// loopHelper handles helpers that call back.
func (r *run) loopHelper(f *frame, fn asm.BuiltinFunc, a [5]uint64) (uint64, error) {
	if fn == asm.FnLoop {
		switch n := uint32(a[0]); {
		case a[3] != 0:
			return errno(unix.EINVAL), nil
		case n > maxLoops:
			return errno(unix.E2BIG), nil
		default:
			return times(uint64(n), func(i uint64) (uint64, error) { return r.back(f, a[1], [5]uint64{i, a[2]}) })
		}
	}
	t, err := r.table(a[0])
	switch {
	case err != nil:
		return 0, err
	case a[3] != 0:
		return errno(unix.EINVAL), nil
	case t.isHash() && len(t.hash) <= 1 && len(t.initial) == 0:
		// The order of several elements would be up to the kernel.
		for key, value := range t.hash {
			at, err := r.alloc(t.keySize)
			if err != nil {
				return 0, err
			}
			b, _ := r.memory.bytes(at, t.keySize)
			copy(b, key)
			return times(1, func(uint64) (uint64, error) { return r.back(f, a[1], [5]uint64{a[0], at, value, a[2]}) })
		}
		return 0, nil
	case !t.isArray() || t.keySize != 4:
		return 0, unsupported("helper %s on a map of type %s", fn, t.typ)
	}
	base, err := t.elements(&r.memory)
	if err != nil {
		return 0, err
	}
	at, err := r.alloc(4)
	if err != nil {
		return 0, err
	}
	return times(t.maxEntries, func(i uint64) (uint64, error) {
		if err := r.write(at, 4, i); err != nil {
			return 0, err
		}
		return r.back(f, a[1], [5]uint64{a[0], at, base + i*uint64(t.stride()), a[2]})
	})
}

// times calls until the result is not 0, and returns how often it called.
func times(n uint64, call func(i uint64) (uint64, error)) (uint64, error) {
	for i := range n {
		if stop, err := call(i); err != nil || stop != 0 {
			return i + 1, err
		}
	}
	return n, nil
}

// compare is bpf_strncmp.
func (r *run) compare(a [5]uint64) (uint64, error) {
	s, err := r.memory.bytes(a[0], int(uint32(a[1])))
	if err != nil {
		return 0, err
	}
	for i := range s {
		b, err := r.memory.bytes(a[2]+uint64(i), 1)
		if err != nil {
			return 0, err
		}
		if c := bytes.Compare(s[i:i+1], b); c != 0 || s[i] == 0 {
			return uint64(int64(c)), nil
		}
	}
	return 0, nil
}
