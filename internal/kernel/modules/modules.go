// Package modules finds the modules of a kernel, and their dependencies.
package modules

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Module is a kernel module, ready for init_module(2).
type Module struct {
	Name string
	Data []byte
}

// Set is the modules of one kernel: built in, or in files that read opens.
type Set struct {
	builtin map[string]bool
	files   map[string]string
	read    func(name string) ([]byte, error)
}

// nameOf returns the kernel's spelling of a module: the file of the module crc32c_intel is
// called crc32c-intel.ko.
func nameOf(name string) string { return strings.ReplaceAll(name, "-", "_") }

// OfFile returns the name of the module in a file, which may be compressed.
func OfFile(file string) (name string, ok bool) {
	base, ending, ok := strings.Cut(path.Base(file), ".ko")
	switch ending {
	case "", ".xz", ".zst", ".gz":
		return nameOf(base), ok && base != ""
	}
	return "", false
}

// parseBuiltin reads modules.builtin.
func parseBuiltin(data []byte) map[string]bool {
	names := map[string]bool{}
	for line := range strings.FieldsSeq(string(data)) {
		if name, ok := OfFile(line); ok {
			names[name] = true
		}
	}
	return names
}

// Index returns the modules among the named files, and those that a modules.builtin among
// them lists.
func Index(names []string, read func(name string) ([]byte, error)) (*Set, error) {
	m := &Set{builtin: map[string]bool{}, files: map[string]string{}, read: read}
	for _, name := range names {
		if path.Base(name) == "modules.builtin" {
			list, err := read(name)
			if err != nil {
				return nil, err
			}
			m.builtin = parseBuiltin(list)
		}
		if module, ok := OfFile(name); ok {
			m.files[module] = name
		}
	}
	return m, nil
}

// Unpacked returns the modules in files, which maps file names to contents, and those that
// are built in.
func Unpacked(files map[string][]byte, builtin []string) *Set {
	m := &Set{builtin: map[string]bool{}, files: map[string]string{}, read: func(name string) ([]byte, error) { return files[name], nil }}
	for _, name := range builtin {
		m.builtin[name] = true
	}
	for file := range files {
		m.files[strings.TrimSuffix(path.Base(file), ".ko")] = file
	}
	return m
}

// Builtin returns the modules that are built in, sorted.
func (m *Set) Builtin() []string { return slices.Sorted(maps.Keys(m.builtin)) }

// Resolve returns the named modules of the kernel with that release and all their
// dependencies, in an order in which they load, without those that are built in. Missing
// are the names, also of dependencies, that the set does not have.
func (m *Set) Resolve(release string, names []string) (ordered []Module, missing []string, err error) {
	r := resolver{Set: m, release: release, seen: map[string]bool{}}
	for _, name := range names {
		if err := r.add(nameOf(name)); err != nil {
			return nil, nil, err
		}
	}
	return r.ordered, r.missing, nil
}

// resolver walks the dependencies of modules, depth first.
type resolver struct {
	*Set
	release string
	seen    map[string]bool
	ordered []Module
	missing []string
}

func (r *resolver) add(name string) error {
	if r.seen[name] || r.builtin[name] {
		return nil
	}
	r.seen[name] = true
	file, ok := r.files[name]
	if !ok {
		r.missing = append(r.missing, name)
		return nil
	}
	data, err := readModule(file, r.read)
	if err != nil {
		return err
	}
	info, err := parseModinfo(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if info.release != "" && info.release != r.release {
		return fmt.Errorf("%s is built for kernel %s", file, info.release)
	}
	for _, dep := range info.soft {
		if _, ok := r.files[nameOf(dep)]; ok {
			info.depends = append(info.depends, dep)
		}
	}
	for _, dep := range info.depends {
		if err := r.add(nameOf(dep)); err != nil {
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
