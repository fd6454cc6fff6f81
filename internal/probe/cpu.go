package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// IsThisCPU reports whether name is the name of this machine's CPU, either the
// kernel's, or the one that the CPU gives to programs such as go test. Under
// some hypervisors these differ. The number of spaces does not matter.
func IsThisCPU(name string) bool {
	same := func(other string) bool { return slices.Equal(strings.Fields(name), strings.Fields(other)) }
	return same(Testbed().CPU) || same(cpuid.CPU.BrandName)
}

// cpuModel returns the name of the CPU in /proc/cpuinfo, or unknown. Each
// architecture has another key for the name, and arm64 none at all.
func cpuModel(cpuinfo string) string {
	f := fields(cpuinfo)
	return cmp.Or(
		f["model name"], // x86, arm
		f["Model Name"], // loongarch
		f["cpu model"],  // mips
		f["cpu"],        // powerpc
		f["uarch"],      // riscv
		armModel(f["CPU implementer"], f["CPU part"]),
		unknown,
	)
}

// armModel names a CPU by the main ID register of arm64. cpuinfo shows its
// implementer and part in hex.
func armModel(implementer, part string) string {
	i, errI := strconv.ParseUint(implementer, 0, 8)
	p, errP := strconv.ParseUint(part, 0, 12)
	if errI != nil || errP != nil {
		return ""
	}
	if name, ok := armParts[armID{uint8(i), uint16(p)}]; ok {
		return name
	}
	return fmt.Sprintf("arm64 implementer 0x%02x part 0x%03x", i, p)
}

type armID struct {
	implementer uint8
	part        uint16
}

// armParts has the CPUs on which programs are likely to be measured, from
// arch/arm64/include/asm/cputype.h.
var armParts = map[armID]string{
	{0x41, 0xd03}: "ARM Cortex-A53",
	{0x41, 0xd05}: "ARM Cortex-A55",
	{0x41, 0xd07}: "ARM Cortex-A57",
	{0x41, 0xd08}: "ARM Cortex-A72",
	{0x41, 0xd0b}: "ARM Cortex-A76",
	{0x41, 0xd0c}: "ARM Neoverse-N1",
	{0x41, 0xd40}: "ARM Neoverse-V1",
	{0x41, 0xd49}: "ARM Neoverse-N2",
	{0x41, 0xd4f}: "ARM Neoverse-V2",
	{0x41, 0xd84}: "ARM Neoverse-V3",
	{0x41, 0xd8e}: "ARM Neoverse-N3",
	{0x43, 0x0af}: "Cavium ThunderX2",
	{0x48, 0xd01}: "HiSilicon TaiShan v110",
	{0x61, 0x022}: "Apple M1 Icestorm",
	{0x61, 0x023}: "Apple M1 Firestorm",
	{0x61, 0x032}: "Apple M2 Blizzard",
	{0x61, 0x033}: "Apple M2 Avalanche",
	{0x6d, 0xd49}: "Microsoft Azure Cobalt 100",
	{0xc0, 0xac3}: "Ampere-1",
	{0xc0, 0xac4}: "Ampere-1a",
}
