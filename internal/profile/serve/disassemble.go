package serve

import (
	"debug/elf"
	"encoding/hex"
	"fmt"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// instruction is a machine instruction, from an offset in the code on.
type instruction struct {
	offset int
	text   string
}

// decoder decodes the first instruction of code at an address: its text, and how long it is.
// Name returns the function at an address, and where it begins, to name what is called.
type decoder func(code []byte, at uint64, name func(uint64) (string, uint64)) (text string, length int)

// architecture is how the code of a machine is called and decoded.
type architecture struct {
	name   string
	decode decoder
}

var architectures = map[elf.Machine]architecture{
	elf.EM_X86_64:  {"x86_64", x86(64)},
	elf.EM_386:     {"x86", x86(32)},
	elf.EM_AARCH64: {"aarch64", arm64},
}

// disassemble returns the instructions of code at an address, in the syntax of GNU.
func (a architecture) disassemble(code []byte, at uint64, name func(uint64) (string, uint64)) []instruction {
	all := []instruction{}
	for offset := 0; offset < len(code); {
		text, length := a.decode(code[offset:], at+uint64(offset), name)
		all = append(all, instruction{offset, text})
		offset += length
	}
	return all
}

func arm64(code []byte, _ uint64, _ func(uint64) (string, uint64)) (string, int) {
	const length = 4
	if len(code) < length {
		return bad(code)
	}
	in, err := arm64asm.Decode(code)
	if err != nil {
		return bad(code[:length])
	}
	return arm64asm.GNUSyntax(in), length
}

func x86(mode int) decoder {
	return func(code []byte, at uint64, name func(uint64) (string, uint64)) (string, int) {
		if n := vectorLength(code, mode); n > 0 {
			return bad(code[:min(n, len(code))])
		}
		in, err := x86asm.Decode(code, mode)
		if err != nil || in.Len == 0 || in.Len > len(code) {
			return bad(code[:1])
		}
		return x86asm.GNUSyntax(in, at, name), in.Len
	}
}

// bad returns bytes that are not an instruction, or one that the decoder does not know.
func bad(code []byte) (string, int) {
	return fmt.Sprintf("(unknown) %s", hex.EncodeToString(code)), len(code)
}

// vectorLength returns how long an instruction with a VEX or EVEX prefix (AVX, AVX-512, BMI) is,
// or 0 if it has none. Package x86asm knows no such ones, and would lose where the next one
// begins. The encoding is that of Intel's manual, volume 2, 2.3 to 2.7.
func vectorLength(code []byte, mode int) int {
	const vex2, vex3, evex = 0xc5, 0xc4, 0x62
	if len(code) < 3 || mode == 32 && code[1] < 0xc0 {
		return 0 // in 32-bit mode LDS, LES and BOUND, whose operand is in memory
	}
	n, opcodes := 0, byte(1) // the prefix, and which table the opcode is of
	switch code[0] {
	case vex2:
		n = 2
	case vex3:
		n, opcodes = 3, code[1]&0x1f
	case evex:
		n, opcodes = 4, code[1]&7
	default:
		return 0
	}
	if len(code) < n+2 {
		return len(code)
	}
	opcode, modrm := code[n], code[n+1]
	n++
	if opcodes == 1 && opcode == 0x77 && code[0] != evex { // VZEROUPPER, VZEROALL
		return n
	}
	n++
	const register, memory8, memory32 = 3, 1, 2
	mod, rm := modrm>>6, modrm&7
	if mod != register && rm == 4 { // a SIB byte
		if n < len(code) && mod == 0 && code[n]&7 == 5 {
			n += 4
		}
		n++
	}
	switch {
	case mod == memory8:
		n++
	case mod == memory32, mod == 0 && rm == 5:
		n += 4
	}
	if opcodes == 3 || opcodes == 1 && (opcode >= 0x70 && opcode <= 0x73 || opcode == 0xc2 || opcode >= 0xc4 && opcode <= 0xc6) {
		n++ // an immediate byte
	}
	return n
}
