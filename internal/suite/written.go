package suite

import (
	"fmt"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Written returns a copy of a benchmark as the file has it, for a suite in another folder:
// without comments and aliases, and with the files that it names as seen from there. An
// empty folder is that of the suite itself.
func (s *Suite) Written(benchmark, folder string) (*yaml.Node, error) {
	n := s.doc.Copy("benchmarks", s.index[benchmark])
	get := func(n *yaml.Node, path ...any) *yaml.Node {
		for _, step := range path {
			n = strictyaml.Get(n, step)
		}
		return n
	}
	named := []*yaml.Node{get(n, "object")}
	if maps := get(n, "maps"); maps != nil {
		for i := 1; i < len(maps.Content); i += 2 {
			named = append(named, get(maps.Content[i], "file"))
		}
	}
	if all := get(n, "replace"); all != nil {
		for i := range all.Content {
			named = append(named, get(all, i, "object"))
		}
	}
	var packets []*yaml.Node
	for _, driver := range bench.Drivers() {
		packets = append(packets, get(n, driver, "packets"))
	}
	if all := get(n, "prepare"); all != nil {
		for i := range all.Content {
			packets = append(packets, get(all, i, "packets"))
		}
	}
	for _, all := range packets {
		for i := 0; all != nil && i < len(all.Content); i++ {
			named = append(named, get(all, i, "pcap"))
		}
	}
	for _, name := range named {
		if name == nil || name.Tag == "!!null" {
			continue
		}
		var err error
		if name.Value, err = s.FromFolder(name.Value, folder); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// FromFolder returns the path of a file that the suite names as another suite in a folder
// of this machine would name it, or as it does itself if that is empty. It fails for a file
// that is nowhere on this machine.
func (s *Suite) FromFolder(name, folder string) (string, error) {
	if folder == "" {
		return name, nil
	}
	if folder == "" {
		return name, nil
	}
	file := ""
	if i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Path == name }); i >= 0 {
		file = s.Objects[i].File
	} else if root, ok := s.fsys.(osFS); ok {
		file = root.path(s.resolve(name))
	}
	if file == "" {
		return "", bench.WithHint(fmt.Errorf("%s of %s is not a file of its own on this machine, so that no other suite can name it", name, s.Name()), "search an object file, or the suite that names it")
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	if file, err = filepath.Rel(from, file); err != nil {
		return "", err
	}
	return filepath.ToSlash(file), nil
}
