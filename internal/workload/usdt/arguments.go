package usdt

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// SpecSize is the size in bytes of what libbpf's usdt.bpf.h knows about a
// probe: a map of the program has it by the probe's number.
const SpecSize = maxArguments*argumentSize + 16

const (
	maxArguments = 12
	argumentSize = 16
)

// Ways to read an argument, as usdt.bpf.h numbers them.
const (
	isConstant = iota
	inRegister
	inMemory
)

// Spec returns what a program needs to read the probe's arguments. An argument
// that cannot be encoded ends the list: the program sees that there are no
// more.
func (u Place) Spec() []byte {
	spec := make([]byte, SpecSize)
	count := 0
	for _, text := range strings.Fields(u.arguments) {
		if count == maxArguments || encodeArgument(spec[count*argumentSize:], text) != nil {
			break
		}
		count++
	}
	binary.NativeEndian.PutUint16(spec[maxArguments*argumentSize+8:], uint16(count))
	return spec
}

// usdtArgument matches an argument on x86: its size, negative if it is signed,
// and a constant, a register, or an offset from a pointer in a register.
var usdtArgument = regexp.MustCompile(`^(-?[1248])@(?:\$(-?\w+)|%(\w+)|(-?\w*)\(%(\w+)\))$`)

func encodeArgument(to []byte, text string) error {
	m := usdtArgument.FindStringSubmatch(text)
	if m == nil || runtime.GOARCH != "amd64" {
		return fmt.Errorf("argument %s is not known", text)
	}
	size, err := strconv.Atoi(m[1])
	if err != nil {
		return err
	}
	kind, number, register := isConstant, m[2], ""
	switch {
	case m[3] != "":
		kind, register = inRegister, m[3]
	case m[5] != "":
		kind, number, register = inMemory, m[4], m[5]
	}
	var value int64
	if number != "" {
		if value, err = strconv.ParseInt(number, 0, 64); err != nil {
			return err
		}
	}
	offset := 0
	if register != "" {
		var ok bool
		if offset, ok = registerOffset(register); !ok {
			return fmt.Errorf("register %s is not known", register)
		}
	}
	binary.NativeEndian.PutUint64(to, uint64(value))
	binary.NativeEndian.PutUint32(to[8:], uint32(kind))
	binary.NativeEndian.PutUint16(to[12:], uint16(offset))
	if size < 0 {
		to[14], size = 1, -size
	}
	to[15] = byte(64 - 8*size)
	return nil
}

// savedRegisters are the spellings of the registers, by size, in the order of
// the kernel's struct pt_regs. The numbered ones have a letter for the size.
var savedRegisters = []string{
	"r15", "r14", "r13", "r12", "rbp ebp bp bpl", "rbx ebx bx bl", "r11", "r10", "r9", "r8",
	"rax eax ax al", "rcx ecx cx cl", "rdx edx dx dl", "rsi esi si sil", "rdi edi di dil",
	"orig_rax", "rip eip ip", "cs", "eflags", "rsp esp sp spl",
}

// registerOffset returns the offset of a register in struct pt_regs.
func registerOffset(register string) (int, bool) {
	for i, names := range savedRegisters {
		if slices.Contains(strings.Fields(names), register) ||
			strings.HasPrefix(register, names) && strings.Trim(register[len(names):], "dwb") == "" {
			return 8 * i, true
		}
	}
	return 0, false
}
