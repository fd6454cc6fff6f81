package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/debian"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// Source loads kernels that no cache has. The zero value loads them from this machine and
// its network.
type Source struct {
	// Progress shows downloads, unless it is nil.
	Progress fetch.Progress
	// Releases is where the releases of this tool are, if not at the usual place.
	Releases string
	// packs replaces the list of the release's packed kernels, unless it is empty.
	packs string
	// apt is Debian's archive, if not the one that this machine's apt is configured for.
	apt debian.Archive
}

// Load loads the kernel that words describe, as a user types them:
//
//	host                       the running kernel
//	6.12                       a version, from the Debian suite that has it
//	trixie-backports           a suite of Debian
//	oci:registry/name:tag      an OCI image
//	a.deb [b.deb]...           packages of Debian
//	kernel.tar.zst             a packed kernel
//	vmlinuz|vmlinux [modules]  an image, and the folder of its modules
//
// The error is ErrUnknown if they describe no kernel, or a file is not one, and another
// error if the network fails.
func (s Source) Load(ctx context.Context, words ...string) (*Kernel, error) {
	switch {
	case len(words) > 0 && allDebs(words):
		return local(fromDebs(words...))
	case len(words) == 1:
		return s.loadOne(ctx, words[0])
	case len(words) == 2 && isFile(words[0]) && isDir(words[1]):
		return local(fromFiles(words[0], words[1]))
	}
	return nil, unknown(words...)
}

func (s Source) loadOne(ctx context.Context, word string) (*Kernel, error) {
	reference, isOCI := strings.CutPrefix(word, "oci:")
	switch {
	case word == "host":
		return local(FromHost())
	case isOCI:
		return fromOCI(ctx, reference, s.Progress)
	case isFile(word) && isPacked(word):
		return local(FromPack(word))
	case isFile(word):
		return local(fromFiles(word, ""))
	case debian.IsSuite(word):
		return s.suite(ctx, word)
	case uname.IsVersion(word):
		return s.version(ctx, word)
	}
	return nil, unknown(word)
}

// local returns a kernel from this machine's files. If there is none, only the name can be
// at fault.
func local(k *Kernel, err error) (*Kernel, error) { return k, noKernel(err) }

// ErrUnknown says that a name stands for no kernel, whatever the cache and the network
// have.
var ErrUnknown = errors.New("unknown kernel")

// noKernelError is an ErrUnknown that wraps another error as its explanation.
type noKernelError struct{ error }

func (e noKernelError) Unwrap() error      { return e.error }
func (noKernelError) Is(target error) bool { return target == ErrUnknown }

func noKernel(err error) error {
	if err == nil {
		return nil
	}
	return noKernelError{err}
}

// checkWord returns ErrUnknown for a word that loadOne cannot interpret.
func checkWord(word string) error {
	switch {
	case word == "host", strings.HasPrefix(word, "oci:"), filepath.Ext(word) == ".deb":
		return nil
	case isFile(word):
		return checkFile(word)
	case debian.IsSuite(word):
		return nil
	case uname.IsVersion(word):
		return noKernel(debian.CheckVersion(word))
	}
	return unknown(word)
}

// checkFile returns ErrUnknown for a file that does not even begin as a kernel does.
func checkFile(name string) error {
	head, err := readHead(name)
	if err != nil || pack.Begins(head) || image.Begins(head) {
		return nil // reading the file reports what is wrong
	}
	return noKernel(fmt.Errorf("read kernel %s: %w", name, image.ErrNotKernel))
}

// readHead reads enough of a file to recognize packs and images.
func readHead(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, image.HeadSize))
}

// unknown returns the error for words that describe no kernel, or too many.
func unknown(words ...string) error {
	name := strings.Join(words, " ")
	if err := checkMajor(name, nil); err != nil {
		return err
	}
	return bench.WithHint(
		noKernel(errors.New(whyUnknown(words))),
		"a kernel is `host`, a version such as 6.12, a suite of Debian, oci:IMAGE, .deb files, a packed kernel, or a vmlinuz with a folder of modules")
}

// whyUnknown says what is wrong with words that are paths, and calls other words unknown
// names.
func whyUnknown(words []string) string {
	for _, word := range words {
		if !strings.ContainsRune(word, filepath.Separator) {
			continue
		}
		switch st, err := os.Stat(word); {
		case err != nil:
			var e *fs.PathError
			if errors.As(err, &e) {
				err = e.Err
			}
			return fmt.Sprintf("read kernel %s: %s", word, err)
		case len(words) == 1 && st.IsDir():
			return fmt.Sprintf("read kernel %s: it is a folder", word)
		}
	}
	return fmt.Sprintf("no kernel is called %q", strings.Join(words, " "))
}

var majorForm = regexp.MustCompile(`^\d{1,3}$`)

// checkMajor returns ErrUnknown for a lone major version, which could be any of several
// kernels, with more to come. The error names the known series, from those releases and
// from Debian.
func checkMajor(name string, releases []string) error {
	if !majorForm.MatchString(name) {
		return nil
	}
	series := slices.DeleteFunc(append(debian.Series(), uname.AllSeries(releases)...), func(s string) bool { return !uname.Begins(s, name) })
	slices.SortFunc(series, uname.Compare)
	such := "such as " + name + ".1"
	if series = slices.Compact(series); len(series) > 0 {
		such = "such as " + strings.Join(series, " or ")
	}
	return bench.WithHint(
		noKernel(fmt.Errorf("%s is not a version but many", name)),
		"name the series, "+such)
}

func allDebs(words []string) bool {
	for _, word := range words {
		if filepath.Ext(word) != ".deb" {
			return false
		}
	}
	return true
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// isPacked reports whether a file begins as a packed kernel does.
func isPacked(name string) bool {
	head, err := readHead(name)
	return err == nil && pack.Begins(head)
}

func isDir(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}
