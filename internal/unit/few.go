package unit

import (
	"fmt"
	"strings"
)

// Few lists the first of many names and counts the others: a, b, c and 2 more. One
// that would be the only other is named too.
func Few(names []string) string {
	const most = 3
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}
