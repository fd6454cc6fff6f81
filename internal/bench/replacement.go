package bench

// Replacement is a freplace program that takes the place of a function of the
// benchmark's program.
type Replacement struct {
	// Program is the name of the freplace program's function in its object.
	Program string `yaml:"program"`
	// Object is its object, relative to the suite file. The default is that of the
	// benchmark's program, or else the only other one that has it.
	Object string `yaml:"object"`
	// Function is the function that it replaces; the default is what its section
	// says, freplace/FUNCTION.
	Function string `yaml:"function"`
}

// Replaced is a function of a program that another program stood in for.
type Replaced struct {
	Function string `json:"function"`
	Program  string `json:"program"`
	// Object is the path of the freplace program's object in the suite,
	// ObjectSHA256 its digest in hex.
	Object       string `json:"object"`
	ObjectSHA256 string `json:"object_sha256,omitempty"`
}

// ObjectFile is an object by its path in the suite, with its digest in hex.
type ObjectFile struct{ Path, SHA256 string }

// Objects are the objects that were measured: the program's, and those of what
// replaced functions of it.
func (r *Result) Objects() []ObjectFile {
	all := []ObjectFile{{r.Object, r.ObjectSHA256}}
	for _, by := range r.Replaced {
		all = append(all, ObjectFile{by.Object, by.ObjectSHA256})
	}
	return all
}
