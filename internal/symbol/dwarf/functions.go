package dwarf

// functions are the functions of a unit, and those that the compiler inlined in them.
type functions struct {
	all   []function
	steps steps
}

type function struct {
	entry    uint64 // offset in .debug_info
	low      uint64 // where its first range begins
	parent   int32  // the function that it is within, -1 for none
	callFile uint32
	callLine int32
	inlined  bool
	linkage  bool
	named    bool // name and linkage are set
	name     string
}

// maxNested bounds the entries that an entry is within. Compilers nest some tens.
const maxNested = 1 << 12

// readFunctions reads the functions of the unit, as far as it is well-formed.
func (u *unit) readFunctions() *functions {
	f := &functions{}
	c := newCursor(u.data.Info[:u.end], uint64(u.first), u.data.Order)
	var (
		e      entry
		spans  []span
		within = []int32{} // the functions around the next entry, innermost last
	)
	for c.at < u.end {
		at := c.at
		if !u.next(&c, &e) {
			break
		}
		if e.tag == 0 {
			if len(within) == 0 {
				break
			}
			within = within[:len(within)-1]
			continue
		}
		parent := int32(-1)
		if len(within) > 0 {
			parent = within[len(within)-1]
		}
		if e.tag == tagSubprogram || e.tag == tagInlinedSubroutine || e.tag == tagEntryPoint {
			before := len(spans)
			spans = u.appendRanges(spans, &e, int32(len(f.all)))
			inlined := e.tag == tagInlinedSubroutine
			switch {
			case len(spans) > before && !u.data.take(functionSize):
				return f
			case len(spans) > before:
				f.all = append(f.all, function{entry: uint64(at), low: spans[before].low, parent: parent, inlined: inlined,
					callFile: uint32(e.callFile.n), callLine: int32(e.callLine.n)})
				parent = int32(len(f.all) - 1)
			case !inlined:
				parent = -1 // a declaration, or what is inlined elsewhere
			}
		}
		if e.children {
			if len(within) == maxNested {
				break
			}
			within = append(within, parent)
		}
	}
	f.steps = innermost(spans)
	return f
}

// maxReferences bounds the entries that the name of a function is looked for in. There
// are three: of the inlined call, of the function, and of its declaration.
const maxReferences = 16

// nameOf returns the name of the function of an entry: the linkage name that the entry,
// the abstract function that it is an instance of, or the declaration of that one has;
// if there is none, its name in the source.
func (d *Data) nameOf(at uint64) (name string, linkage bool) {
	for range maxReferences {
		u := d.unitOf(at)
		if u == nil {
			break
		}
		var e entry
		c := newCursor(d.Info[:u.end], at, d.Order)
		if !u.next(&c, &e) || !d.take(uint64(c.at)-at) {
			break
		}
		if e.linkageName.form != 0 {
			return u.text(e.linkageName, d.Info), true
		}
		if name == "" {
			name = u.text(e.name, d.Info)
		}
		next := e.origin
		if next.form == 0 {
			next = e.specification
		}
		if d, at = u.refers(next); d == nil {
			break
		}
	}
	return name, false
}
