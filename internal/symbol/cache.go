package symbol

import (
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
)

const (
	// maxBinaries bounds the binaries of a cache, each of which keeps a file open.
	maxBinaries = 256
	// maxVDSOs bounds the vdsos of a cache. The kernel has one of each ABI.
	maxVDSOs = 8
)

// Cache has the binaries that processes share. It is safe for concurrent use.
type Cache struct {
	maxSize int64

	mu       sync.Mutex
	files    map[fileID]*cached
	contents map[string]*cached
	vdsos    map[string]*Binary
	clock    int64
}

// fileID identifies the content of a file.
type fileID struct{ device, inode, size, seconds, nanoseconds uint64 }

// cached is a binary, nil if the file is none, and what is known of its use.
type cached struct {
	binary *Binary
	files  []fileID
	key    string // in contents, "" if it is not there
	users  int
	used   int64 // by the clock
	size   int64 // when it was released
}

// NewCache returns a cache that keeps symbols and debug information of about maxSize
// bytes, and no more than 256 binaries: those that were looked up last.
func NewCache(maxSize int64) *Cache {
	return &Cache{maxSize: maxSize, files: map[fileID]*cached{}, contents: map[string]*cached{}, vdsos: map[string]*Binary{}}
}

// Close closes the binaries. After that, processes have no frames.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.files {
		if e.binary != nil {
			e.binary.Close()
		}
	}
	clear(c.files)
	clear(c.contents)
	clear(c.vdsos)
}

// idOf returns what identifies the content of an open file.
func idOf(f *os.File) (fileID, bool) {
	info, err := f.Stat()
	if err != nil {
		return fileID{}, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtim.Sec), uint64(s.Mtim.Nsec)}, true
}

// file returns the binary that a file of a path has, and keeps the file or closes it. It
// must be released.
func (c *Cache) file(f *os.File, path string) (*cached, fileID) {
	id, ok := idOf(f)
	if !ok {
		f.Close()
		return nil, fileID{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[id]
	if e != nil {
		f.Close()
	} else {
		b, err := newBinary(f, path)
		if err != nil {
			f.Close()
		}
		e = c.add(id, b)
	}
	c.use(e)
	c.evict()
	return e, id
}

// add adds the binary of a file, nil if it is none, or takes the same one of another
// file.
func (c *Cache) add(id fileID, b *Binary) *cached {
	e := &cached{binary: b}
	if b != nil && b.buildID != "" {
		// Files of the same build ID differ if one of them is stripped.
		e.key = b.buildID + " " + strconv.FormatUint(id.size, 10)
		if other := c.contents[e.key]; other != nil {
			b.Close()
			e = other
		}
		c.contents[e.key] = e
	}
	c.files[id] = e
	e.files = append(e.files, id)
	return e
}

// known returns the binary that is known by an ID, or nil. It must be released.
func (c *Cache) known(id fileID) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[id]
	if e != nil {
		c.use(e)
	}
	return e
}

func (c *Cache) use(e *cached) {
	c.clock++
	e.used = c.clock
	e.users++
}

// release says that a binary may be closed.
func (c *Cache) release(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.binary != nil && e.binary.size.Load() != e.size {
		e.size = e.binary.size.Load()
		c.evict()
	}
}

// evict closes the binaries that were not used for the longest time, until the others
// are few and small enough.
func (c *Cache) evict() {
	for {
		var oldest *cached
		var size int64
		all := map[*cached]bool{}
		for _, e := range c.files {
			if all[e] {
				continue
			}
			all[e] = true
			size += e.size
			if e.users == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil || len(all) <= maxBinaries && size <= c.maxSize {
			return
		}
		for _, id := range oldest.files {
			delete(c.files, id)
		}
		if oldest.key != "" {
			delete(c.contents, oldest.key)
		}
		if oldest.binary != nil {
			oldest.binary.Close()
		}
	}
}

// vdso returns the binary that a process has as its vdso, nil if there is none, or if
// there are too many: a process can change its own.
func (c *Cache) vdso(r io.ReaderAt) *Binary {
	b, err := New(r)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.vdsos[b.buildID]; known != nil {
		return known
	}
	if len(c.vdsos) >= maxVDSOs {
		return nil
	}
	c.vdsos[b.buildID] = b
	return b
}
