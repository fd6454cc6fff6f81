package git

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// binding are the variables that say which repository git works on, instead of its working
// directory: git sets them for hooks. Those with settings of the user are not among them.
var binding = []string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CONFIG",
	"GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_INTERNAL_SUPER_PREFIX",
}

// Unbound returns an environment in which git works on the repository of its working directory.
func Unbound(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(binding, name)
	})
}

// Environ returns an environment for what runs in a checkout after the times of its files were
// set, which changes their ctime: git goes by their contents only where their mtime changed.
func Environ(environ []string) []string {
	return configured(Unbound(environ), []string{"core.trustctime=false"})
}

// configured adds settings, as NAME=VALUE, to those that an environment already has.
func configured(environ, settings []string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	environ = slices.DeleteFunc(environ, func(entry string) bool {
		value, ok := strings.CutPrefix(entry, count)
		if had, err := strconv.Atoi(value); ok && err == nil {
			n = max(0, had)
		}
		return ok
	})
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		environ = append(environ, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	return append(environ, count+strconv.Itoa(n))
}
