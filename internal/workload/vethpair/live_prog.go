package vethpair

import (
	"encoding/binary"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// liveProgram holds the parameters of a liveSender's program.
type liveProgram struct {
	// near is the index of the near end.
	near int
	// frames is the number of frames, longest the length of the longest, and
	// mixed says that not all have that length.
	frames, longest int
	mixed           bool
	// The file descriptors of the maps.
	turn, framesMap, target int
}

// The values of the map of frames: the length, then the bytes.
const (
	frameLength = 0
	frameBytes  = 8
)

// newLiveFrames makes the map that holds the frames: the length of each and
// its bytes.
func newLiveFrames(frames [][]byte, longest int) (*ebpf.Map, error) {
	spec := &ebpf.MapSpec{
		Name: "frames", Type: ebpf.Array,
		KeySize: 4, ValueSize: uint32(frameBytes + longest), MaxEntries: uint32(len(frames)),
	}
	for i, frame := range frames {
		value := make([]byte, spec.ValueSize)
		binary.NativeEndian.PutUint32(value, uint32(len(frame)))
		copy(value[frameBytes:], frame)
		spec.Contents = append(spec.Contents, ebpf.MapKV{Key: uint32(i), Value: value})
	}
	return ebpf.NewMap(spec)
}

// The fields of liveTurn.
const (
	turnCredit = 0
	turnNext   = 8
)

// xdpIngressIfindex is the offset of ingress_ifindex in struct xdp_md.
const xdpIngressIfindex = 12

// The return values of an XDP program.
const (
	xdpAborted = iota
	xdpDrop
	xdpPass
	xdpTX
)

// instructions are, in C:
//
//	if (ctx->ingress_ifindex == near)       // the far end sent it back
//		return XDP_DROP;
//	if (!turn.credit)
//		return XDP_DROP;
//	turn.credit--;
//	i = turn.next;
//	turn.next = i + 1 < frames ? i + 1 : 0;
//	frame = &frames_map[i];
//	bpf_xdp_adjust_tail(ctx, frame->length - longest);
//	bpf_xdp_store_bytes(ctx, 0, frame->bytes, frame->length);
//	return bpf_redirect_map(&target, 0, XDP_DROP);
//
// The kernel recycles the pages of live frames as the last program left them.
// Writing the frame each time costs a twentieth of the speed, but shows each
// run of a program that edits its packets the original packet.
func (p liveProgram) instructions() asm.Instructions {
	const ctx, turn, frame, i = asm.R6, asm.R7, asm.R8, -4
	insns := asm.Instructions{
		asm.Mov.Reg(ctx, asm.R1),
		asm.LoadMem(asm.R1, ctx, xdpIngressIfindex, asm.Word),
		asm.JEq.Imm(asm.R1, int32(p.near), "drop"),

		asm.LoadMapValue(turn, p.turn, 0),
		asm.LoadMem(asm.R1, turn, turnCredit, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "drop"),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(turn, turnCredit, asm.R1, asm.DWord),

		asm.LoadMem(asm.R1, turn, turnNext, asm.Word),
		asm.StoreMem(asm.RFP, i, asm.R1, asm.Word),
		asm.Add.Imm(asm.R1, 1),
		asm.JLT.Imm(asm.R1, int32(p.frames), "next"),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(turn, turnNext, asm.R1, asm.Word).WithSymbol("next"),

		asm.LoadMapPtr(asm.R1, p.framesMap),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, i),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "drop"),
		asm.Mov.Reg(frame, asm.R0),
	}
	if p.mixed {
		insns = append(insns,
			asm.Mov.Reg(asm.R1, ctx),
			asm.LoadMem(asm.R2, frame, frameLength, asm.Word),
			asm.Sub.Imm(asm.R2, int32(p.longest)),
			asm.FnXdpAdjustTail.Call(),
			asm.LoadMem(asm.R4, frame, frameLength, asm.Word),
			// The verifier does not know how long the frames are.
			asm.JLT.Imm(asm.R4, packet.MinFrame, "drop"),
			asm.JGT.Imm(asm.R4, int32(p.longest), "drop"),
		)
	} else {
		insns = append(insns, asm.Mov.Imm(asm.R4, int32(p.longest)))
	}
	return append(insns,
		asm.Mov.Reg(asm.R1, ctx),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Reg(asm.R3, frame),
		asm.Add.Imm(asm.R3, frameBytes),
		asm.FnXdpStoreBytes.Call(),

		asm.LoadMapPtr(asm.R1, p.target),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Imm(asm.R3, xdpDrop),
		asm.FnRedirectMap.Call(),
		asm.Return(),

		asm.Mov.Imm(asm.R0, xdpDrop).WithSymbol("drop"),
		asm.Return(),
	)
}
