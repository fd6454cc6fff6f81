package builtin

import "golang.org/x/sys/unix"

const (
	readWrite = unix.PROT_READ | unix.PROT_WRITE
	private   = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
)

// memoryCalls act on memory that is mapped for them.
var memoryCalls = map[string]prepareCall{
	"mmap": func(_ *scene, nr uintptr) func() {
		return func() { raw(unix.SYS_MUNMAP, raw(nr, 0, sceneFile, readWrite, private, ^uintptr(0), 0), sceneFile) }
	},
	"munmap": func(_ *scene, nr uintptr) func() {
		return func() { raw(nr, mapped(1), sceneFile) }
	},
	"brk":      constant(0),
	"mprotect": onMapped(readWrite),
	"madvise":  onMapped(unix.MADV_NORMAL),
	"msync":    onMapped(unix.MS_ASYNC),
	"mlock":    onMapped(),
	"munlock":  onMapped(),
	"mremap":   onMapped(sceneFile, 0),
	"mincore": func(s *scene, nr uintptr) func() {
		at, out := mapped(1), s.words(0)
		return func() { raw(nr, at, sceneFile, out) }
	},
}

// mapped returns the address of fresh pages, which nothing has touched.
func mapped(pages int) uintptr {
	return raw(unix.SYS_MMAP, 0, uintptr(pages*unix.Getpagesize()), readWrite, private, ^uintptr(0), 0)
}

// onMapped makes a call on a page, with further arguments after address and
// size.
func onMapped(more ...uintptr) prepareCall {
	return func(_ *scene, nr uintptr) func() {
		args := append([]uintptr{mapped(1), sceneFile}, more...)
		return func() { raw(nr, args...) }
	}
}
