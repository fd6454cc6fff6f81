package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"

	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// userTarget is code in an executable or a library: a function, possibly with
// an offset, or a static probe.
type userTarget struct{ path, code string }

// userTarget parses the target of a hook in user space: PATH:FUNCTION, or
// PATH:PROVIDER:NAME for a static probe.
func (h *Hook) userTarget() (userTarget, error) {
	i := strings.LastIndex(h.Target, ":")
	if h.name == "usdt" && i > 0 {
		i = strings.LastIndex(h.Target[:i], ":")
	}
	if i <= 0 || i == len(h.Target)-1 {
		return userTarget{}, fmt.Errorf("%s names no code of a file: say it by attach, such as %s", h.Section, h.example())
	}
	return userTarget{h.Target[:i], h.Target[i+1:]}, nil
}

// open opens the file that contains the hook.
func (h *Hook) open() (*link.Executable, userTarget, error) {
	t, err := h.userTarget()
	if err == nil && !strings.Contains(t.path, "/") {
		t.path, err = findExecutable(t.path)
	}
	if err != nil {
		return nil, t, err
	}
	file, err := link.OpenExecutable(t.path)
	return file, t, err
}

// libraryDirs are searched for a library that is given without a folder.
var libraryDirs = []string{"/usr/lib", "/lib", "/usr/lib64", "/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}

// findExecutable finds a file by its name alone, as libbpf does.
func findExecutable(name string) (string, error) {
	if !strings.Contains(name, ".so") {
		return exec.LookPath(name)
	}
	for _, dir := range libraryDirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is in none of %s", name, strings.Join(libraryDirs, ", "))
}

func attachUprobe(h *Hook, p *ebpf.Program) (io.Closer, error) {
	file, t, err := h.open()
	if err != nil {
		return nil, err
	}
	symbol, offset, err := symbolOffset(t.code)
	if err != nil {
		return nil, err
	}
	probe := file.Uprobe
	if h.returns() {
		probe = file.Uretprobe
	}
	l, err := probe(symbol, p, &link.UprobeOptions{Offset: offset})
	return closerOf(l, t.explain(symbol, err))
}

func attachUprobeMulti(h *Hook, p *ebpf.Program) (io.Closer, error) {
	file, t, err := h.open()
	if err != nil {
		return nil, err
	}
	symbol, offset, err := symbolOffset(t.code)
	if err != nil {
		return nil, err
	}
	multi := file.UprobeMulti
	if h.returns() {
		multi = file.UretprobeMulti
	}
	l, err := multi([]string{symbol}, p, &link.UprobeMultiOptions{Offsets: []uint64{offset}})
	if err != nil && errors.Is(features.HaveBPFLinkUprobeMulti(), ebpf.ErrNotSupported) {
		return nil, host.Cannot(fmt.Errorf("this kernel has no %s, which takes Linux 6.6", h.name))
	}
	return closerOf(l, t.explain(symbol, err))
}

// IsLocal reports whether a path is relative to the suite: a name alone is
// looked up where programs are.
func IsLocal(path string) bool { return strings.Contains(path, "/") && !filepath.IsAbs(path) }

// Locate returns the hook with the path of its file on this machine. localFile
// finds a file that is relative to the suite.
func (h *Hook) Locate(localFile func(string) (string, error)) (section string, err error) {
	if !h.InUser {
		return h.Section, nil
	}
	t, err := h.userTarget()
	switch {
	case err != nil:
		return "", err
	case IsLocal(t.path):
		t.path, err = localFile(t.path)
	}
	if err != nil {
		return "", err
	}
	section, _, _ = strings.Cut(h.Section, "/")
	return section + "/" + t.path + ":" + t.code, nil
}
