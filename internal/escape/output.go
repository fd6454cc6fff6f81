package escape

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrDelimiter says that a value contains the line that would end it.
var ErrDelimiter = errors.New("the value contains its delimiter")

var outputForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)

// Output returns the text that sets a name to a value in a file of outputs or variables.
// The line end must be unpredictable.
func Output(name, value, end string) (string, error) {
	switch {
	case !outputForm.MatchString(name):
		return "", fmt.Errorf("%.80q is not a name", name)
	case strings.Contains(value, end):
		return "", fmt.Errorf("%s: %w", name, ErrDelimiter)
	case strings.ContainsRune(value, 0):
		return "", fmt.Errorf("%s: the value contains a NUL", name)
	}
	return name + "<<" + end + "\n" + value + "\n" + end + "\n", nil
}
