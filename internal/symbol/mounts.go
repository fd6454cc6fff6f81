package symbol

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// mounts is the list of mounts of a namespace, as proc(5) describes it.
type mounts struct {
	mu      sync.Mutex
	file    *os.File       // mountinfo in /proc. It holds the namespace.
	budget  *budget.Budget // a namespace has up to 100000 (fs.mount-max), and they can change
	byID    map[uint64]mount
	devices map[string]bool
}

// mount is a line of a list of mounts: the device of the file system, and its type.
type mount struct{ device, system string }

// maxMounts bounds a list of mounts, in bytes. That of a container takes some hundreds in the
// list of its host.
const maxMounts = 16 << 20

// own are the mounts of this process.
var own = sync.OnceValues(func() (*mounts, error) {
	return openMounts("/proc/self/mountinfo", nil)
})

// openMounts opens a list of mounts, and does not let the runtime wait for it as [os.Open] does:
// that takes the news of a change away.
func openMounts(path string, left *budget.Budget) (*mounts, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return &mounts{file: os.NewFile(uintptr(fd), path), budget: left}, nil
}

// mount returns the mount with a number, if there is one.
func (m *mounts) mount(id uint64) (found mount, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = m.read(); err != nil {
		return mount{}, false, err
	}
	found, known = m.byID[id]
	return found, known, nil
}

// has reports whether a device is mounted.
func (m *mounts) has(device string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.read()
	return m.devices[device], err
}

// read reads the list, if it has not been read since it changed: numbers of mounts are used
// again.
func (m *mounts) read() error {
	changed := []unix.PollFd{{Fd: int32(m.file.Fd()), Events: unix.POLLPRI}}
	n, err := unix.Poll(changed, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(changed, 0)
	}
	if err != nil {
		return fmt.Errorf("look for other mounts: %w", err)
	}
	if n == 0 && m.byID != nil {
		return nil
	}
	m.byID, m.devices = nil, nil
	text, err := io.ReadAll(io.NewSectionReader(m.file, 0, maxMounts+1))
	switch {
	case err != nil:
		return fmt.Errorf("read mounts: %w", err)
	case len(text) > maxMounts:
		return fmt.Errorf("there are more than %d bytes of mounts", maxMounts)
	case !m.budget.Take(2 * uint64(len(text))):
		return errors.New("there is no room for the list of mounts")
	}
	m.byID, m.devices = map[uint64]mount{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		place, what, _ := strings.Cut(line, " - ")
		fields, system := strings.Fields(place), strings.Fields(what)
		if len(fields) < 3 || len(system) == 0 {
			continue
		}
		if id, err := strconv.ParseUint(fields[0], 10, 64); err == nil {
			device := strings.Clone(fields[2])
			m.byID[id] = mount{device, strings.Clone(system[0])}
			m.devices[device] = true
		}
	}
	return nil
}
