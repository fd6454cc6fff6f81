package insn

import (
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// CostsByInput reports whether instructions call a helper that may cost something else for
// another packet or context, though the program executes as many instructions: one that
// copies or sums a number of bytes that is not constant, searches, or moves a packet. Those
// whose answer a program has to look at, such as lookups in maps, are not among them, nor
// are those that call it back.
func CostsByInput(insns asm.Instructions) bool {
	for i := range insns {
		switch ins := &insns[i]; {
		case ins.IsKfuncCall() && !isSteady(ins):
			return true
		case !ins.IsBuiltinCall():
		case slices.Contains(searches, asm.BuiltinFunc(ins.Constant)):
			return true
		default:
			for _, r := range sizes[asm.BuiltinFunc(ins.Constant)] {
				if !setToConstant(insns[:i], r) {
					return true
				}
			}
		}
	}
	return false
}

// isSteady reports whether the kernel function that ins calls leaves packets and contexts
// alone, and costs the same whatever they hold.
func isSteady(ins *asm.Instruction) bool {
	return slices.ContainsFunc(steady, func(prefix string) bool { return strings.HasPrefix(ins.Reference(), prefix) })
}

var steady = []string{
	"bpf_dynptr_", "bpf_rcu_", "bpf_preempt_", "bpf_local_irq_", "bpf_obj_", "bpf_refcount_", "bpf_list_", "bpf_rbtree_",
	"bpf_iter_num_", "bpf_cpumask_", "bpf_task_", "bpf_cgroup_", "bpf_cast_to_", "bpf_rdonly_cast",
}

// searches are the helpers that take as long as what they find or move is large.
var searches = []asm.BuiltinFunc{
	asm.FnFibLookup, asm.FnSkLookupTcp, asm.FnSkLookupUdp, asm.FnSkcLookupTcp, asm.FnGetHashRecalc,
	asm.FnCloneRedirect, asm.FnSkbAdjustRoom, asm.FnSkbChangeHead, asm.FnSkbChangeTail, asm.FnSkbChangeProto,
	asm.FnSkbPullData, asm.FnSkbVlanPush, asm.FnSkbVlanPop,
	asm.FnLwtPushEncap, asm.FnLwtSeg6Action, asm.FnLwtSeg6AdjustSrh, asm.FnLwtSeg6StoreBytes,
	asm.FnTcpGenSyncookie, asm.FnTcpCheckSyncookie,
	asm.FnTcpRawGenSyncookieIpv4, asm.FnTcpRawGenSyncookieIpv6, asm.FnTcpRawCheckSyncookieIpv4, asm.FnTcpRawCheckSyncookieIpv6,
	asm.FnStrtol, asm.FnStrtoul, asm.FnStrncmp, asm.FnSnprintf, asm.FnTracePrintk, asm.FnTraceVprintk,
}

// sizes are the registers that hold how many bytes a helper copies or sums.
var sizes = map[asm.BuiltinFunc][]asm.Register{
	asm.FnCsumDiff:             {asm.R2, asm.R4},
	asm.FnSkbLoadBytes:         {asm.R4},
	asm.FnSkbLoadBytesRelative: {asm.R4},
	asm.FnSkbStoreBytes:        {asm.R4},
	asm.FnXdpLoadBytes:         {asm.R4},
	asm.FnXdpStoreBytes:        {asm.R4},
	asm.FnDynptrRead:           {asm.R2},
	asm.FnDynptrWrite:          {asm.R4},
	asm.FnRingbufOutput:        {asm.R3},
	asm.FnPerfEventOutput:      {asm.R3, asm.R5}, // the flags have the bytes of the packet
	asm.FnSkbOutput:            {asm.R3, asm.R5},
	asm.FnXdpOutput:            {asm.R3, asm.R5},
	asm.FnProbeRead:            {asm.R2},
	asm.FnProbeReadKernel:      {asm.R2},
}

// setToConstant reports whether the last instructions, which nothing jumps into, set a
// register to a constant.
func setToConstant(before asm.Instructions, r asm.Register) bool {
	for i := range slices.Backward(before) {
		ins := &before[i]
		class := ins.OpCode.Class()
		switch {
		case class.IsJump():
			return false
		case (class.IsALU() || class.IsLoad()) && ins.Dst == r:
			return ins.OpCode.ALUOp() == asm.Mov && class.IsALU() && ins.OpCode.Source() == asm.ImmSource || ins.IsConstantLoad(asm.DWord) && ins.Reference() == ""
		case ins.Symbol() != "":
			return false
		}
	}
	return false
}

// HidesChanges reports whether instructions of a program may change of its packet or
// context what BPF_PROG_RUN does not return.
func HidesChanges(typ ebpf.ProgramType, insns asm.Instructions) bool {
	return slices.ContainsFunc(insns, func(ins asm.Instruction) bool {
		switch {
		case ins.IsKfuncCall():
			return !isSteady(&ins)
		case ins.IsBuiltinCall():
			return slices.Contains(hiding, asm.BuiltinFunc(ins.Constant))
		case typ == ebpf.XDP || !ins.OpCode.Class().IsStore() || ins.Dst == asm.R10:
			return false
		}
		// It may be to this field of the context, or to something else at that offset.
		return slices.Contains(unreturned, ins.Offset)
	})
}

// hiding are the helpers that change what is not returned.
var hiding = []asm.BuiltinFunc{
	asm.FnGetHashRecalc, asm.FnSetHash, asm.FnSetHashInvalid, asm.FnCsumLevel, asm.FnSkbChangeType,
	asm.FnSkbSetTunnelKey, asm.FnSkbSetTunnelOpt, asm.FnXdpAdjustMeta,
}

// unreturned are the offsets of queue_mapping, tc_index and tc_classid in struct __sk_buff,
// which programs may write and the kernel does not return (net/bpf/test_run.c,
// convert_skb_to___skb).
var unreturned = []int16{12, 44, 72}
