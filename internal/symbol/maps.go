package symbol

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// Mapping is a range of addresses of a process that has code.
type Mapping struct {
	// Start and End are addresses, Offset is that of Start in the file.
	Start, End, Offset uint64
	// Device and Inode are those of the file, 0 if there is none. On some file systems,
	// such as btrfs, stat(2) tells another device.
	Device, Inode uint64
	// Path is that of the file in the mount namespace of the process, or a name such as
	// [vdso], or empty.
	Path string
	// Deleted says that the path no longer leads to the file.
	Deleted bool
}

const (
	// maxLine bounds a line of the files that are read here, in bytes: paths are shorter
	// than 4096, and each of their bytes may be written as four.
	maxLine = 32 << 10
	// maxMappings bounds the mappings of a process. vm.max_map_count is 65530 if nobody
	// changed it.
	maxMappings = 1 << 20
)

// ParseMaps reads the executable mappings in /proc/PID/maps, as proc(5) describes it.
func ParseMaps(r io.Reader) ([]Mapping, error) {
	var all []Mapping
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		m, executable, ok := parseMapping(lines.Text())
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d of the mappings is malformed: %.100q", n, lines.Text())
		case len(all) == maxMappings:
			return nil, fmt.Errorf("there are more than %d mappings", maxMappings)
		case executable:
			all = append(all, m)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read mappings: %w", err)
	}
	return all, nil
}

func parseMapping(line string) (m Mapping, executable, ok bool) {
	// start-end permissions offset major:minor inode path
	var fields [5]string
	for i := range fields {
		fields[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	low, high, _ := strings.Cut(fields[0], "-")
	major, minor, _ := strings.Cut(fields[3], ":")
	ok = len(fields[1]) == 4
	number := func(text string, base int) uint64 {
		n, err := strconv.ParseUint(text, base, 64)
		ok = ok && err == nil
		return n
	}
	m.Start, m.End, m.Offset = number(low, 16), number(high, 16), number(fields[2], 16)
	m.Device, m.Inode = number(major, 16)<<32|number(minor, 16), number(fields[4], 10)
	// The kernel writes a line feed in a path as \012, and nothing else in another way.
	m.Path = strings.ReplaceAll(strings.TrimLeft(line, " "), `\012`, "\n")
	if m.Inode != 0 {
		m.Path, m.Deleted = strings.CutSuffix(m.Path, " (deleted)")
	}
	return m, ok && fields[1][2] == 'x', ok && m.Start < m.End
}

// parsePerfMap reads what a just-in-time compiler wrote of its functions: lines of an
// address, a size, both in hexadecimal, and a name (jit-interface.txt, in tools/perf/
// Documentation of Linux). It skips malformed lines, and the last may be one that
// is being written. Of functions at the same address, the last one counts. It returns nil if
// there are too many for the budget.
func parsePerfMap(text []byte, left *budget.Budget) *table {
	lines := bytes.Count(text, []byte("\n"))
	if !left.Take(uint64(lines) * symbolSize) {
		return nil
	}
	t := &table{text: text, symbols: make([]symbol, 0, lines)}
	eachLine(text, func(at int, line []byte) {
		start, rest, _ := bytes.Cut(line, []byte(" "))
		size, name, _ := bytes.Cut(rest, []byte(" "))
		s := symbol{name: uint32(at + len(line) - len(name)), length: uint32(min(len(name), maxName))}
		var ok, sized bool
		s.addr, ok = hexadecimal(start)
		s.size, sized = hexadecimal(size)
		if ok && sized && s.length > 0 && s.size > 0 {
			t.symbols = append(t.symbols, s)
		}
	})
	// The sort is stable, and leaves the first.
	for i, j := 0, len(t.symbols)-1; i < j; i, j = i+1, j-1 {
		t.symbols[i], t.symbols[j] = t.symbols[j], t.symbols[i]
	}
	t.sort()
	return t
}

// eachLine calls f with each line of a text that ends, and where it begins.
func eachLine(text []byte, f func(at int, line []byte)) {
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return
		}
		f(at, text[at:at+end])
		at += end + 1
	}
}

// hexadecimal parses a number without making a string of it.
func hexadecimal(text []byte) (uint64, bool) {
	text = bytes.TrimPrefix(text, []byte("0x"))
	if len(text) == 0 || len(text) > 16 {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | uint64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | uint64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
