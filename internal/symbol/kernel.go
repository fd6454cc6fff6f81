package symbol

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// maxKallsyms bounds /proc/kallsyms, in bytes. It has some 20 MB.
	maxKallsyms = 512 << 20
	// maxFunction bounds functions of the kernel, whose size is unknown, in bytes: between
	// those of modules and BPF programs is other memory.
	maxFunction = 1 << 20
)

// Kernel has the functions of the running kernel, its modules and BPF programs, at the
// time it was read. It is safe for concurrent use, except for AddProgram.
type Kernel struct {
	symbols table
	// programs are lines of BPF programs, by address.
	programs []programLine
}

// ReadKernel reads /proc/kallsyms. The kernel shows addresses only to those with
// CAP_SYSLOG, depending on the sysctl kernel.kptr_restrict: without them, it returns an
// error with a hint.
func ReadKernel() (*Kernel, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("read the kernel's symbols: %w", err), "run as root")
	}
	defer f.Close()
	return ParseKallsyms(f)
}

// ParseKallsyms reads symbols in the form of /proc/kallsyms: an address in hexadecimal,
// the type as in nm(1), the name, and in brackets the module.
func ParseKallsyms(r io.Reader) (*Kernel, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKallsyms))
	if err != nil {
		return nil, fmt.Errorf("read the kernel's symbols: %w", err)
	}
	k := &Kernel{symbols: table{text: text}}
	hidden := true
	eachLine(text, func(at int, line []byte) {
		addr, rest, _ := bytes.Cut(line, []byte(" "))
		kind, name, ok := bytes.Cut(rest, []byte(" "))
		s := symbol{name: uint32(at + len(line) - len(name)), length: uint32(min(len(name), maxName)), size: maxFunction, open: true}
		s.addr, _ = hexadecimal(addr)
		if !ok || len(kind) != 1 || s.length == 0 || s.addr == 0 {
			return
		}
		hidden = false
		if !bytes.ContainsAny(kind, "tTwW") {
			s.other = true
		} else {
			s.rank = 1
		}
		k.symbols.symbols = append(k.symbols.symbols, s)
	})
	if hidden {
		return nil, bench.WithHint(errors.New("read the kernel's symbols: all addresses are hidden"),
			"run as root, and set the sysctl kernel.kptr_restrict to 0 or 1")
	}
	k.symbols.sort()
	return k, nil
}

// Frames returns the function at an address, nil if it is unknown. Of BPF programs that
// were added, it has the line, too. The kernel names a BPF program bpf_prog_TAG_NAME.
func (k *Kernel) Frames(addr uint64) []Frame {
	s := k.symbols.at(addr)
	if p := k.programAt(addr); p != nil {
		f := Frame{Func: p.function, File: p.file, Line: p.line}
		if s != nil {
			f.Func, _ = k.name(s)
		}
		return []Frame{f}
	}
	if s == nil {
		return nil
	}
	name, _ := k.name(s)
	return []Frame{{Func: name}}
}

func (k *Kernel) programAt(addr uint64) *programLine {
	i := sort.Search(len(k.programs), func(i int) bool { return k.programs[i].addr > addr }) - 1
	if i < 0 || addr >= k.programs[i].end {
		return nil
	}
	return &k.programs[i]
}

// name returns the name of a function and of the module that has it: bpf for BPF programs,
// and nothing for the kernel itself.
func (k *Kernel) name(s *symbol) (name, module string) {
	text := []byte(k.symbols.name(s))
	before, after, _ := bytes.Cut(text, []byte("\t["))
	return string(before), string(bytes.TrimSuffix(after, []byte("]")))
}

// programLine says that the code of a BPF program from addr up to end is of a line.
type programLine struct {
	addr, end      uint64
	function, file string
	line           int
}

// AddProgram adds the lines of source of a loaded BPF program. It takes Linux 5.0, and
// CAP_SYS_ADMIN; a program without BTF has none, which is an error, as is one that the
// kernel did not compile.
func (k *Kernel) AddProgram(p *ebpf.Program) error {
	info, err := p.Info()
	if err != nil {
		return fmt.Errorf("read BPF program: %w", err)
	}
	lines, err := info.LineInfos()
	if err != nil {
		return fmt.Errorf("read lines of BPF program %s: %w", info.Name, err)
	}
	at, _ := info.JitedLineInfos()
	starts, _ := info.JitedKsymAddrs()
	lengths, _ := info.JitedFuncLens()
	if len(at) == 0 || len(at) != len(lines) || len(starts) != len(lengths) {
		return fmt.Errorf("read lines of BPF program %s: the kernel has no addresses of them", info.Name)
	}
	var functions []programLine
	for i, start := range starts {
		functions = append(functions, programLine{addr: uint64(start), end: uint64(start) + uint64(lengths[i]), function: info.Name})
	}
	for i, addr := range at {
		l := programLine{addr: addr, function: info.Name, file: lines[i].Line.FileName(), line: int(lines[i].Line.LineNumber())}
		for _, f := range functions {
			if f.addr <= addr && addr < f.end {
				l.end = f.end
			}
		}
		k.programs = append(k.programs, l)
	}
	slices.SortStableFunc(k.programs, func(a, b programLine) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}
