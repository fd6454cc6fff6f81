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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is the code that a process has mapped. It is not safe for concurrent use.
//
// What it takes to look up addresses is read or opened at once, so that it is there
// when the process has ended: the mappings, the executable and its libraries, the vdso,
// and the root folder of a container.
type Process struct {
	PID int

	cache    *Cache
	mappings []mapping
	root     root
	// A perf map is named after the PID in the innermost PID namespace, and belongs to
	// the user of the process, or root.
	innerPID int
	user     uint32
	perf     *table
	perfRead time.Time
	perfSize int64
}

// mapping is a mapping with what its addresses are looked up in.
type mapping struct {
	Mapping
	id   fileID
	vdso *Binary
}

// Process reads what the process has mapped. It takes the rights to ptrace it. A caller
// who has CAP_SYS_ADMIN, or since Linux 5.9 CAP_CHECKPOINT_RESTORE, gets deleted files,
// too. Close the process when it is no longer looked up.
func (c *Cache) Process(pid int) (*Process, error) {
	p := &Process{PID: pid, cache: c, innerPID: pid}
	if status, err := os.ReadFile(p.proc("status")); err == nil {
		p.readStatus(string(status))
	}
	// A folder that is open stays there when the process ends.
	if !sameRoot(p.proc("root")) {
		if dir, err := os.OpenFile(p.proc("root"), os.O_RDONLY|syscall.O_DIRECTORY, 0); err == nil {
			p.root.dir = dir
		}
	}
	if err := p.Update(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Process) proc(name string) string { return fmt.Sprintf("/proc/%d/%s", p.PID, name) }

// readStatus reads /proc/PID/status, as proc(5) describes it.
func (p *Process) readStatus(status string) {
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "NSpid":
			if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
				p.innerPID = n
			}
		case "Uid":
			if n, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
				p.user = uint32(n)
			}
		}
	}
}

// sameRoot reports whether a root folder is that of this process. Two mount namespaces
// have different ones.
func sameRoot(path string) bool {
	theirs, err := os.Stat(path)
	ours, err2 := os.Stat("/")
	namespace, _ := os.Readlink(strings.TrimSuffix(path, "root") + "ns/mnt")
	own, _ := os.Readlink("/proc/self/ns/mnt")
	return err == nil && err2 == nil && os.SameFile(theirs, ours) && namespace == own
}

// Update reads the mappings again, after the process has loaded a library, for example.
// Earlier ones stay where there are none now.
func (p *Process) Update() error {
	f, err := os.Open(p.proc("maps"))
	if err != nil {
		return fmt.Errorf("read mappings of process %d: %w", p.PID, err)
	}
	defer f.Close()
	now, err := ParseMaps(f)
	if err != nil {
		return fmt.Errorf("process %d: %w", p.PID, err)
	}
	if len(now) == 0 {
		return fmt.Errorf("read mappings of process %d: %w", p.PID, errNoMappings)
	}
	earlier := p.mappings
	p.mappings = nil
	for _, m := range now {
		p.mappings = append(p.mappings, mapping{Mapping: m})
	}
	added := p.mappings
	for _, m := range earlier {
		i := sort.Search(len(added), func(i int) bool { return added[i].End > m.Start })
		switch {
		case i < len(added) && added[i].Mapping == m.Mapping:
			added[i] = m
		case i == len(added) || added[i].Start >= m.End:
			p.mappings = append(p.mappings, m)
		}
	}
	slices.SortFunc(p.mappings, func(a, b mapping) int { return cmp.Compare(a.Start, b.Start) })
	p.openAll(p.mappings)
	return nil
}

// errNoMappings is the error for kernel threads, and for processes that have ended.
var errNoMappings = errors.New("it has none: it has ended, or is a thread of the kernel")

// openAll opens the files of mappings that have not been opened yet.
func (p *Process) openAll(all []mapping) {
	for i := range all {
		m := &all[i]
		switch {
		case m.id != (fileID{}) || m.vdso != nil:
		case m.Path == "[vdso]":
			m.vdso = p.cache.vdso(p.memory(m))
		case m.Inode != 0:
			if e := p.open(m); e != nil {
				p.cache.release(e)
			}
		}
	}
}

// memory returns what is in a mapping now.
func (p *Process) memory(m *mapping) io.ReaderAt {
	// The vdso of every architecture has a few pages.
	const most = 1 << 20
	data := make([]byte, min(m.End-m.Start, most))
	f, err := os.Open(p.proc("mem"))
	if err != nil {
		return bytes.NewReader(nil)
	}
	defer f.Close()
	n, _ := f.ReadAt(data, int64(m.Start))
	return bytes.NewReader(data[:n])
}

// open returns the binary of a mapping, or nil. It must be released.
func (p *Process) open(m *mapping) *cached {
	if e := p.cache.known(m.id); e != nil {
		return e
	}
	for _, try := range []struct {
		root root
		path string
	}{
		{root{}, p.proc(fmt.Sprintf("map_files/%x-%x", m.Start, m.End))},
		{p.root, m.Path},
	} {
		f, err := try.root.open(try.path)
		if err != nil {
			continue
		}
		// Another file may have the path now.
		id, ok := idOf(f)
		if !ok || id.inode != m.Inode || m.id != (fileID{}) && m.id != id {
			f.Close()
			continue
		}
		e, id := p.cache.file(f, m.Path)
		m.id = id
		return e
	}
	return nil
}

// Close closes the root folder of the process. The binaries stay in the cache.
func (p *Process) Close() error {
	if p.root.dir == nil {
		return nil
	}
	err := p.root.dir.Close()
	p.root.dir, p.mappings = nil, nil
	return err
}

// Mapping returns the mapping that has an address.
func (p *Process) Mapping(addr uint64) (Mapping, bool) {
	m := p.find(addr)
	if m == nil {
		return Mapping{}, false
	}
	return m.Mapping, true
}

func (p *Process) find(addr uint64) *mapping {
	i := sort.Search(len(p.mappings), func(i int) bool { return p.mappings[i].End > addr })
	if i == len(p.mappings) || p.mappings[i].Start > addr {
		return nil
	}
	return &p.mappings[i]
}

// Frames returns the function at an address of the process: if it was inlined, followed
// by the one that it was inlined in, and so on. It returns nil if nothing is known but,
// perhaps, the mapping.
func (p *Process) Frames(addr uint64) []Frame {
	m := p.find(addr)
	if m == nil {
		return nil
	}
	offset := addr - m.Start + m.Offset
	if m.vdso != nil {
		return framesAt(m.vdso, offset-m.Offset, root{})
	}
	if m.Inode != 0 {
		if e := p.open(m); e != nil {
			defer p.cache.release(e)
			if e.binary != nil {
				return framesAt(e.binary, offset, p.root)
			}
		}
	}
	p.readPerfMap()
	if s := p.perf.at(addr); s != nil {
		return []Frame{{Func: p.perf.name(s)}}
	}
	return nil
}

func framesAt(b *Binary, offset uint64, r root) []Frame {
	vaddr, ok := b.Address(offset)
	if !ok {
		return nil
	}
	return b.frames(vaddr, r)
}

// readPerfMap reads the perf map of the process if it has grown, at most once a second.
func (p *Process) readPerfMap() {
	if p.perf != nil && time.Since(p.perfRead) < time.Second {
		return
	}
	if p.perf == nil {
		p.perf = &table{}
	}
	p.perfRead = time.Now()
	f, err := p.root.open(fmt.Sprintf("/tmp/perf-%d.map", p.innerPID))
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == p.perfSize {
		return
	}
	// Anybody can write to /tmp.
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != p.user && s.Uid != 0 {
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPerfMap))
	if err != nil {
		return
	}
	p.perf, p.perfSize = parsePerfMap(text), info.Size()
}
