package suite

import "path"

// LocalFile returns the path on this machine of a file that the suite names. It
// reads the file, so that another machine gets it with the suite.
func (s *Suite) LocalFile(name string) (string, error) {
	if _, err := s.ReadFile(name); err != nil {
		return "", err
	}
	file := s.resolve(name)
	if root, ok := s.fsys.(osFS); ok {
		file = root.path(file)
	}
	if !path.IsAbs(file) {
		file = "./" + file
	}
	return file, nil
}
