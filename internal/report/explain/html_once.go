package explain

import (
	"fmt"
	"slices"
)

// once leaves out the tables of functions that are on the page already: what several
// benchmarks run, or a function that is in several programs.
func once(programs []pageProgram) {
	type table struct{ id, in string }
	seen, moved := map[string]table{}, map[string]map[string]string{}
	for i := range programs {
		p := &programs[i]
		for j := range p.Functions {
			f := &p.Functions[j]
			key, ids := f.key()
			if len(ids) == 0 {
				continue
			}
			at, known := seen[key]
			if !known {
				seen[key], moved[key] = table{ids[0], p.Name}, map[string]string{}
				for n, id := range ids {
					moved[key][fmt.Sprint(n)] = id
				}
				continue
			}
			f.Files, f.Same, f.SameIn = nil, at.id, at.in
			for n, id := range ids {
				for d := range p.Dearest {
					if p.Dearest[d].ID == id {
						p.Dearest[d].ID = moved[key][fmt.Sprint(n)]
					}
				}
			}
		}
	}
}

// key is all that the table of a function says, ids are the lines that it has.
func (f *pageFunction) key() (key string, ids []string) {
	files := make([]pageFile, len(f.Files))
	for i, file := range f.Files {
		files[i] = pageFile{Name: file.Name, Lines: slices.Clone(file.Lines)}
		for n := range files[i].Lines {
			if l := &files[i].Lines[n]; l.ID != "" {
				ids = append(ids, l.ID)
				l.ID = ""
			}
		}
	}
	return fmt.Sprintf("%q %+v", f.Name, files), ids
}
