package suite

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// OS is the machine's own file system, in which paths may be absolute or lead
// upwards, unlike those of os.DirFS: objects often lie beside the folder of
// the suite.
var OS fs.FS = osFS{}

type osFS struct{}

func (osFS) Open(name string) (fs.File, error)               { return os.Open(name) }
func (osFS) ReadFile(name string) ([]byte, error)            { return os.ReadFile(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)           { return os.Stat(name) }
func (osFS) Glob(pattern string) (names []string, err error) { return filepath.Glob(pattern) }

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// relative is the inverse of path.Join(dir, name) for a name that was globbed
// below dir; a name elsewhere is returned as it is.
func relative(dir, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return name
	}
	return path.Clean(filepath.ToSlash(rel))
}
