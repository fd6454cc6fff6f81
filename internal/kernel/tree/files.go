package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// OfFiles returns the kernel of an image, a vmlinuz or a vmlinux, with the modules below a
// folder. The folder may be the one of the modules, their build tree, or a root with
// lib/modules in it; without a folder, the kernel has no modules. OfFiles takes the config
// and System.map from beside the image.
func OfFiles(image, modules string) (*Kernel, error) {
	k, err := readImage(image)
	if err != nil {
		return nil, err
	}
	beside := os.DirFS(filepath.Dir(image))
	if k.Config, err = readFirst(beside, "config-"+k.Release, "config", ".config"); err != nil {
		return nil, err
	}
	if k.SystemMap, err = readFirst(beside, "System.map-"+k.Release, "System.map"); err != nil {
		return nil, err
	}
	if k.Modules, err = readModules(modules, k.Release); err != nil {
		return nil, fmt.Errorf("read modules in %s: %w", modules, err)
	}
	return k, nil
}

func readImage(name string) (*Kernel, error) {
	data, err := untrusted.ReadFile(os.DirFS(filepath.Dir(name)), filepath.Base(name), untrusted.MaxImage)
	if err != nil {
		return nil, fmt.Errorf("read kernel: %w", err)
	}
	k, err := ofImage(data)
	if err != nil {
		return nil, fmt.Errorf("read kernel %s: %w", name, err)
	}
	return k, nil
}

// readFirst reads the first of the files that exists, and returns nil if none does.
func readFirst(dir fs.FS, names ...string) ([]byte, error) {
	for _, name := range names {
		data, err := untrusted.ReadFile(dir, name, untrusted.MaxText)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, err
	}
	return nil, nil
}

func readModules(dir, release string) (*modules.Set, error) {
	if dir == "" {
		return modules.Index(nil, nil)
	}
	// A root may have several releases side by side.
	for _, below := range []string{"lib/modules", "usr/lib/modules", "."} {
		if sub := filepath.Join(dir, below, release); isDir(sub) {
			dir = sub
			break
		}
	}
	root := os.DirFS(dir)
	var names []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return modules.Index(names, func(name string) ([]byte, error) { return untrusted.ReadFile(root, name, untrusted.MaxModule) })
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}
