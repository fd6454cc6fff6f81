package symbol

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/symbol/dwarf"
)

// Binary is an ELF file: an executable, a shared object or the vdso. Its symbols and
// debug information are read when a frame is first asked for. It is safe for concurrent
// use.
type Binary struct {
	buildID string
	image   image
	path    string // "" if unknown
	origin  Origin
	code    []dwarf.Code

	mu      sync.Mutex
	closer  io.Closer // nil if there is nothing to close
	loaded  bool
	debug   *dwarf.Data // nil if there is none
	symbols []*table
	table   *goTable          // nil if there is none
	names   map[string]string // demangled
}

// Open opens an executable or a shared object as this user does. Debug information may be in
// a file of its own, below /usr/lib/debug or beside it.
func Open(path string) (*Binary, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open binary: %w", err)
	}
	// gdb and others look beside the file that links lead to.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("open binary: %w", err)
	}
	b, err := NewFile(f, path, OfUser(nil, uint32(os.Geteuid())).Of(f), budget.New(budget.Default))
	if err != nil {
		f.Close()
	}
	return b, err
}

// NewFile returns the binary of an open file, which Close closes. Its path, which need not
// lead to it any more, is where debug information is looked for, as its origin may. What is
// known of the binary takes of a budget: once that is exceeded, frames are missing.
func NewFile(f *os.File, path string, o Origin, left *budget.Budget) (*Binary, error) {
	b, err := New(f, left)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.closer, b.path, b.origin = f, path, o
	return b, nil
}

// New returns the binary that r has, such as the vdso. It reads r later, too. See NewFile for
// the budget.
func New(r io.ReaderAt, left *budget.Budget) (*Binary, error) {
	m, err := newImage(r, left)
	if err != nil {
		return nil, err
	}
	if m.Type != elf.ET_EXEC && m.Type != elf.ET_DYN {
		return nil, fmt.Errorf("it is neither an executable nor a shared object: its type is %s", m.Type)
	}
	b := &Binary{buildID: m.buildID(), image: m, names: map[string]string{}}
	for _, p := range m.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			b.code = append(b.code, dwarf.Code{Low: p.Vaddr, High: p.Vaddr + p.Memsz})
		}
	}
	return b, nil
}

// Close closes the file. After that there are no frames.
func (b *Binary) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loaded, b.debug, b.symbols, b.table = true, nil, nil, nil
	if b.closer == nil {
		return nil
	}
	err := b.closer.Close()
	b.closer = nil
	return err
}

// Origin returns who names the files that the binary does.
func (b *Binary) Origin() Origin { return b.origin }

// BuildID returns the GNU build ID in hexadecimal, or an empty string.
func (b *Binary) BuildID() string { return b.buildID }

// Address returns the virtual address that a segment has for an offset in the file, of
// code if there are several. So the virtual address of an address of a process is that
// of its mapping's offset, plus its distance from the start of the mapping.
func (b *Binary) Address(offset uint64) (uint64, bool) {
	var found *elf.Prog
	for _, p := range b.image.Progs {
		if p.Type == elf.PT_LOAD && offset >= p.Off && offset-p.Off < p.Filesz && (found == nil || p.Flags&elf.PF_X != 0) {
			found = p
		}
	}
	if found == nil {
		return 0, false
	}
	return offset - found.Off + found.Vaddr, true
}

// CallFrames returns what the file says of the frames of its functions: .eh_frame with its
// virtual address, and .debug_frame, or nil. That of Go, which keeps frame pointers, stops
// where functions change to another stack, and is left out.
func (b *Binary) CallFrames() (ehFrame []byte, vaddr uint64, debugFrame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.image.Section(".eh_frame"); s != nil {
		vaddr = s.Addr
	}
	ehFrame, _ = b.image.data(".eh_frame") // nil if it cannot be read
	if b.image.Section(".note.go.buildid") == nil {
		debugFrame, _ = b.image.data(".debug_frame")
	}
	return ehFrame, vaddr, debugFrame
}

// Frames returns the function at a virtual address: if it was inlined, followed by the
// one that it was inlined in, and so on. It returns nil if nothing is known.
func (b *Binary) Frames(vaddr uint64) []Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loaded {
		b.load()
	}
	frames := b.framesAt(vaddr)
	if !takeFrames(b.image.budget, frames) {
		return nil
	}
	return frames
}

// takeFrames takes the memory of frames and their names of a budget, and reports whether there
// was as much.
func takeFrames(left *budget.Budget, frames []Frame) bool {
	n := len(frames) * int(unsafe.Sizeof(Frame{}))
	for _, f := range frames {
		n += len(f.Func) + len(f.File)
	}
	return left.Take(uint64(n))
}

func (b *Binary) framesAt(vaddr uint64) (frames []Frame) {
	if b.debug != nil {
		for _, c := range b.debug.Calls(vaddr) {
			frames = append(frames, Frame{Func: b.nameOf(&c, vaddr), File: c.File, Line: c.Line, Inlined: c.Inlined})
		}
	}
	if len(frames) == 0 && b.table != nil {
		if f, ok := b.table.frame(vaddr); ok {
			return []Frame{f}
		}
	}
	if len(frames) == 0 {
		if name := b.symbolAt(vaddr); name != "" {
			return []Frame{{Func: b.demangled(name)}}
		}
	}
	return frames
}

// Extent returns where the function at a virtual address begins and ends.
func (b *Binary) Extent(vaddr uint64) (start, end uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loaded {
		b.load()
	}
	for _, t := range b.symbols {
		if s := t.at(vaddr); s != nil {
			return s.addr, s.addr + s.size, true
		}
	}
	if b.table != nil {
		return b.table.extent(vaddr)
	}
	return 0, 0, false
}

// Code reads the machine code from one virtual address to another. It ends earlier where the
// code does.
func (b *Binary) Code(start, end uint64) ([]byte, error) {
	for _, p := range b.image.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || start < p.Vaddr || start-p.Vaddr >= p.Filesz || end < start {
			continue
		}
		code := make([]byte, min(end-start, p.Filesz-(start-p.Vaddr)))
		n, err := p.ReadAt(code, int64(start-p.Vaddr))
		if n == 0 && err != nil {
			return nil, fmt.Errorf("read code: %w", err)
		}
		return code[:n], nil
	}
	return nil, fmt.Errorf("there is no code at 0x%x", start)
}

// Machine returns what the code is for.
func (b *Binary) Machine() elf.Machine { return b.image.Machine }

// nameOf returns the name of a function of debug information. Compilers leave the
// linkage name out of that of C++ functions without external linkage: the symbol has
// it.
func (b *Binary) nameOf(c *dwarf.Call, vaddr uint64) string {
	switch {
	case c.Linkage:
		return b.demangled(c.Name)
	case c.Inlined:
		return c.Name
	case c.Name == "":
		return b.demangled(b.symbolAt(vaddr))
	}
	if name := b.symbolAt(c.Entry); isMangled(name) {
		return b.demangled(name)
	}
	return c.Name
}

// symbolAt returns the name of the symbol that has an address, or an empty string.
func (b *Binary) symbolAt(vaddr uint64) string {
	for _, t := range b.symbols {
		if s := t.at(vaddr); s != nil {
			return t.name(s)
		}
	}
	return ""
}

func (b *Binary) demangled(name string) string {
	if !isMangled(name) {
		return demangled(name)
	}
	if d, ok := b.names[name]; ok {
		return d
	}
	d := demangled(name)
	if b.image.budget.Take(uint64(len(name) + len(d))) {
		b.names[name] = d
	}
	return d
}

// load reads the symbols and the debug information, from the file or from another one.
func (b *Binary) load() {
	b.loaded = true
	images, path := []image{b.image}, b.path
	if b.image.Section(".debug_info") == nil && b.image.Section(".zdebug_info") == nil {
		if file, m, where, err := debugFile(b.image, b.path, b.origin); err == nil {
			defer file.Close()
			images, path = append(images, m), where
		}
	}
	for i := len(images) - 1; i >= 0; i-- {
		b.addSymbols(images[i].symbolTable(".symtab", ".strtab"))
	}
	b.addSymbols(b.image.symbolTable(".dynsym", ".dynstr"))
	var symbols *table
	if len(b.symbols) > 0 {
		symbols = b.symbols[0]
	}
	b.table = newGoTable(b.image, symbols)
	m := images[len(images)-1]
	if b.debug = b.read(m); b.debug == nil {
		return
	}
	if file, alt, err := altFile(m, path, b.origin); file != nil && err == nil {
		b.debug.Alt = b.read(alt)
		file.Close()
	}
}

func (b *Binary) addSymbols(t *table) {
	if len(t.symbols) > 0 {
		b.symbols = append(b.symbols, t)
	}
}

// read reads the debug information of a file, nil if it has none that can be read.
func (b *Binary) read(m image) *dwarf.Data {
	s := dwarf.Sections{Order: m.ByteOrder}
	for _, section := range []struct {
		name string
		data *[]byte
	}{
		{"info", &s.Info}, {"abbrev", &s.Abbrev}, {"str", &s.Str}, {"line", &s.Line}, {"line_str", &s.LineStr},
		{"ranges", &s.Ranges}, {"rnglists", &s.RngLists}, {"addr", &s.Addr}, {"str_offsets", &s.StrOffsets},
	} {
		var err error
		if *section.data, err = m.data(".debug_" + section.name); err != nil {
			return nil
		}
	}
	if s.Info == nil {
		return nil
	}
	return dwarf.New(s, b.code, m.budget)
}
