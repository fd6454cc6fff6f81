// Package tree finds a kernel in a folder or in archives that are laid out as
// distributions do: its image, its modules, and the files beside them.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/modules"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// tree is a file system laid out as distributions do. Its files are named from the root:
// "boot/vmlinuz-6.1.0".
type tree struct {
	names []string
	read  func(name string) ([]byte, error)
}

// The two places for images, and for the files beside them:
//
//	boot/vmlinuz-RELEASE, boot/config-RELEASE, boot/System.map-RELEASE
//	lib/modules/RELEASE/{vmlinuz,config,System.map}
//
// Either folder may be below usr/, and in boot the release may be left out.
const modulesDir = "lib/modules/"

// locate splits the name of a file in the tree: below lib/modules into the release and the
// path within its folder, in boot into "boot" and the name.
func locate(name string) (dir, file string) {
	name = withoutUsr(name)
	if rest, ok := strings.CutPrefix(name, modulesDir); ok {
		dir, file, _ = strings.Cut(rest, "/")
		return dir, file
	}
	if rest, ok := strings.CutPrefix(name, "boot/"); ok && !strings.Contains(rest, "/") {
		return "boot", rest
	}
	return "", ""
}

func withoutUsr(name string) string { return strings.TrimPrefix(name, "usr/") }

// wanted reports whether the file is part of a kernel.
func wanted(name string) bool {
	dir, file := locate(name)
	if dir == "" {
		return false
	}
	if _, ok := modules.OfFile(file); ok {
		return dir != "boot"
	}
	return file == "modules.builtin" || isImageName(file) ||
		isPartName(file, "config") || isPartName(file, "System.map")
}

func isImageName(file string) bool {
	return isPartName(file, "vmlinuz") || isPartName(file, "vmlinux") || isPartName(file, "Image")
}

func isPartName(file, part string) bool {
	return file == part || strings.HasPrefix(file, part+"-") && !strings.Contains(file, "/")
}

// Kernel is the parts of a kernel that were found.
type Kernel struct {
	Release, Arch string
	Image         []byte
	Format        image.Format
	Config        []byte // nil if there is none
	SystemMap     []byte // the same
	Modules       *modules.Set
}

// ofImage returns the kernel of an image alone.
func ofImage(data []byte) (*Kernel, error) {
	d, err := image.Describe(data)
	if err != nil {
		return nil, err
	}
	return &Kernel{Release: d.Release, Arch: d.Arch, Image: data, Format: d.Format}, nil
}

// find returns the tree's kernel of a release, or the only one if release is empty.
func (t *tree) find(release string) (*Kernel, error) {
	k, err := t.findImage(release)
	if err != nil {
		return nil, err
	}
	k.Modules, err = modules.Index(slices.DeleteFunc(slices.Clone(t.names), func(name string) bool {
		dir, _ := locate(name)
		return dir != k.Release
	}), t.read)
	if err != nil {
		return nil, err
	}
	if k.Config, err = t.part(k.Release, "config"); err != nil {
		return nil, err
	}
	if k.SystemMap, err = t.part(k.Release, "System.map"); err != nil {
		return nil, err
	}
	if isPlaceholder(k.SystemMap) {
		k.SystemMap = nil
	}
	return k, nil
}

// isPlaceholder reports whether a System.map is the single line that Debian ships, which
// names the package of the real one.
func isPlaceholder(systemMap []byte) bool { return len(systemMap) < 1024 }

// findImage reads the tree's images and returns the one of that release, or the only one.
func (t *tree) findImage(release string) (*Kernel, error) {
	found := map[string]*Kernel{}
	for _, name := range t.names {
		dir, file := locate(name)
		if dir == "" || !isImageName(file) {
			continue
		}
		data, err := t.read(name)
		if err != nil {
			return nil, err
		}
		k, err := ofImage(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if found[k.Release] == nil {
			found[k.Release] = k
		}
	}
	releases := slices.Sorted(maps.Keys(found))
	switch {
	case len(found) == 0:
		return nil, noImageError(release)
	case release == "" && len(found) == 1:
		return found[releases[0]], nil
	case release == "":
		return nil, fmt.Errorf("several kernels: %s", strings.Join(releases, ", "))
	case found[release] == nil:
		return nil, fmt.Errorf("no kernel %s, only %s", release, strings.Join(releases, ", "))
	}
	return found[release], nil
}

// noImageError says that a tree has no image of a release, or of any.
type noImageError string

func (e noImageError) Error() string {
	release := cmp.Or(string(e), "*")
	return fmt.Sprintf("no kernel image: neither boot/vmlinuz-%s nor lib/modules/%[1]s/vmlinuz", release)
}

// moduleReleases returns the releases that the tree has modules for.
func (t *tree) moduleReleases() (releases []string) {
	for _, name := range t.names {
		if _, ok := modules.OfFile(name); ok {
			dir, _ := locate(name)
			releases = append(releases, dir)
		}
	}
	slices.Sort(releases)
	return slices.Compact(releases)
}

// part returns a file that lies beside the image, or nil.
func (t *tree) part(release, part string) ([]byte, error) {
	for _, name := range t.names {
		dir, file := locate(name)
		if dir == release && file == part || dir == "boot" && (file == part+"-"+release || file == part) {
			return t.read(name)
		}
	}
	return nil, nil
}

// dirTree returns the part of a folder that makes up a kernel.
func dirTree(root fs.FS, dirs ...string) (*tree, error) {
	t := &tree{read: func(name string) ([]byte, error) { return untrusted.ReadFile(root, name, untrusted.MaxImage) }}
	for _, dir := range dirs {
		err := fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !d.IsDir() && wanted(name):
				t.names = append(t.names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Installed returns the kernel of a release as its distribution installed it below root.
func Installed(root fs.FS, release string) (*Kernel, error) {
	t, err := dirTree(root, "boot", modulesDir+release)
	if err != nil {
		return nil, err
	}
	// Other kernels in /boot may be many, and need not be readable.
	t.names = slices.DeleteFunc(t.names, func(name string) bool {
		dir, file := locate(name)
		return dir == "boot" && !strings.HasSuffix(file, "-"+release)
	})
	return t.find(release)
}
