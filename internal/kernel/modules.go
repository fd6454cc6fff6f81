package kernel

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Module is a kernel module, ready for init_module(2).
type Module struct {
	Name string
	Data []byte
}

// modules are those of one kernel: built in, or files that read opens.
type modules struct {
	builtin map[string]bool
	files   map[string]string
	read    func(name string) ([]byte, error)
}

// moduleName is how the kernel spells a module: the file of the module
// crc32c_intel is called crc32c-intel.ko.
func moduleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// moduleOfFile is the module in a file, which may be compressed.
func moduleOfFile(file string) (name string, ok bool) {
	base, ending, ok := strings.Cut(path.Base(file), ".ko")
	switch ending {
	case "", ".xz", ".zst", ".gz":
		return moduleName(base), ok && base != ""
	}
	return "", false
}

// parseBuiltin reads modules.builtin.
func parseBuiltin(data []byte) map[string]bool {
	names := map[string]bool{}
	for line := range strings.FieldsSeq(string(data)) {
		if name, ok := moduleOfFile(line); ok {
			names[name] = true
		}
	}
	return names
}

// indexModules are the modules among the named files.
func indexModules(names []string, read func(name string) ([]byte, error)) (*modules, error) {
	m := &modules{builtin: map[string]bool{}, files: map[string]string{}, read: read}
	for _, name := range names {
		if path.Base(name) == "modules.builtin" {
			list, err := read(name)
			if err != nil {
				return nil, err
			}
			m.builtin = parseBuiltin(list)
		}
		if module, ok := moduleOfFile(name); ok {
			m.files[module] = name
		}
	}
	return m, nil
}

// Modules are the named modules and all that they depend on, in an order in
// which they load. What is built into the kernel needs no loading and is left
// out; missing are the names, also of dependencies, that the kernel does not
// have at all. Where a source lacks modules.builtin, nothing is known to be
// built in, and what is counts as missing.
func (k *Kernel) Modules(names ...string) (ordered []Module, missing []string, err error) {
	r := resolver{kernel: k, seen: map[string]bool{}}
	for _, name := range names {
		if err := r.add(moduleName(name)); err != nil {
			return nil, nil, fmt.Errorf("find modules of %s: %w", k.Release, err)
		}
	}
	return r.ordered, r.missing, nil
}

// resolver walks the dependencies of modules, depth first.
type resolver struct {
	kernel  *Kernel
	seen    map[string]bool
	ordered []Module
	missing []string
}

func (r *resolver) add(name string) error {
	all := r.kernel.modules
	if r.seen[name] || all.builtin[name] {
		return nil
	}
	r.seen[name] = true
	file, ok := all.files[name]
	if !ok {
		r.missing = append(r.missing, name)
		return nil
	}
	data, err := readModule(file, all.read)
	if err != nil {
		return err
	}
	info, err := parseModinfo(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if info.release != "" && info.release != r.kernel.Release {
		return fmt.Errorf("%s is built for kernel %s", file, info.release)
	}
	for _, dep := range info.soft {
		if _, ok := all.files[moduleName(dep)]; ok {
			info.depends = append(info.depends, dep)
		}
	}
	for _, dep := range info.depends {
		if err := r.add(moduleName(dep)); err != nil {
			return err
		}
	}
	r.ordered = append(r.ordered, Module{name, data})
	return nil
}

func readModule(file string, read func(string) ([]byte, error)) ([]byte, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	if path.Ext(file) != ".ko" {
		if data, err = untrusted.Decompress(data, untrusted.MaxModule); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", file, err)
		}
	}
	return data, nil
}
