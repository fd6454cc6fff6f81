package debian

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// aptSource is an entry of apt's configuration: the origin of packages, and whose
// signature to trust.
type aptSource struct {
	uris     []string
	suites   []string
	signedBy string
}

const (
	aptDir       = "etc/apt"
	listEnding   = ".list"
	deb822Ending = ".sources"
)

// readApt reads the sources of a machine's apt, whose root directory is root, in apt's
// order.
func readApt(root fs.FS) ([]aptSource, error) {
	names := []string{path.Join(aptDir, "sources.list")}
	for _, ending := range []string{listEnding, deb822Ending} {
		found, err := fs.Glob(root, path.Join(aptDir, "sources.list.d", "*"+ending))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	var all []aptSource
	for _, name := range names {
		data, err := untrusted.ReadFile(root, name, untrusted.MaxText)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parse := parseAptList
		if path.Ext(name) == deb822Ending {
			parse = parseAptSources
		}
		sources, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("/%s: %w", name, err)
		}
		all = append(all, sources...)
	}
	return all, nil
}

// parseAptSources reads a file of the deb822 format.
func parseAptSources(data []byte) (sources []aptSource, err error) {
	for text, err := range stanzas(bytes.NewReader(data)) {
		if err != nil {
			return nil, err
		}
		s, err := parseStanza(text)
		if err != nil {
			return nil, err
		}
		enabled := !slices.Contains([]string{"no", "false", "without", "off", "disable", "0"}, strings.ToLower(s["enabled"]))
		if enabled && slices.Contains(s.words("types"), "deb") {
			sources = append(sources, aptSource{s.words("uris"), s.words("suites"), s["signed-by"]})
		}
	}
	return sources, nil
}

// parseAptList reads a file of the one-line format:
//
//	deb [arch=amd64 signed-by=/a/keyring.gpg] http://mirror/debian trixie main
func parseAptList(data []byte) (sources []aptSource, err error) {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || strings.TrimLeft(rest, " \t[") == rest {
			continue // empty, or deb-src
		}
		source, err := parseAptLine(strings.TrimSpace(rest))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		sources = append(sources, source)
	}
	return sources, nil
}

func parseAptLine(line string) (source aptSource, err error) {
	if inner, ok := strings.CutPrefix(line, "["); ok {
		options, rest, ok := strings.Cut(inner, "]")
		if !ok {
			return source, errors.New("[ without ]")
		}
		for option := range strings.FieldsSeq(options) {
			if value, ok := strings.CutPrefix(option, "signed-by="); ok {
				source.signedBy = strings.ReplaceAll(value, ",", " ")
			}
		}
		line = rest
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return source, errors.New("neither URI nor suite")
	}
	source.uris, source.suites = words[:1], words[1:2]
	return source, nil
}

// mirror is one address of Debian's archive, with the keys that sign it.
type mirror struct {
	uri      string
	signedBy string
}

// ErrNoMirror says that the address of Debian's archive is unknown, as on Ubuntu.
var ErrNoMirror = errors.New("apt is not configured for a mirror of Debian")

// debianMirrors returns the mirrors of Debian's main archive that apt uses, those of the
// suite first.
func debianMirrors(root fs.FS, suite string) ([]mirror, error) {
	sources, err := readApt(root)
	if err != nil {
		return nil, fmt.Errorf("read apt's configuration: %w", err)
	}
	var exact, others []mirror
	for _, source := range sources {
		if !slices.ContainsFunc(source.suites, IsSuite) {
			continue
		}
		uris, err := expandMirrors(root, source.uris)
		if err != nil {
			return nil, fmt.Errorf("read apt's configuration: %w", err)
		}
		for _, uri := range uris {
			m := mirror{strings.TrimSuffix(uri, "/"), source.signedBy}
			if slices.Contains(source.suites, suite) {
				exact = append(exact, m)
			} else {
				others = append(others, m)
			}
		}
	}
	all := unique(append(exact, others...))
	if len(all) == 0 {
		return nil, bench.WithHint(ErrNoMirror,
			"name a mirror in /etc/apt/sources.list.d/debian.sources, or add kernels from .deb files or an OCI image")
	}
	return all, nil
}

// expandMirrors returns the http addresses among uris, and those that files of mirrors
// list: Debian's images for clouds have mirror+file:/etc/apt/mirrors/….
func expandMirrors(root fs.FS, uris []string) (all []string, err error) {
	for _, uri := range uris {
		if strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://") {
			all = append(all, uri)
		}
		file, ok := strings.CutPrefix(uri, "mirror+file:")
		if !ok {
			continue
		}
		list, err := untrusted.ReadFile(root, strings.TrimLeft(file, "/"), untrusted.MaxText)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(list)) {
			line, _, _ = strings.Cut(line, "#")
			if words := strings.Fields(line); len(words) > 0 && strings.HasPrefix(words[0], "http") {
				all = append(all, words[0])
			}
		}
	}
	return all, nil
}

// unique drops repeated mirrors.
func unique(all []mirror) (once []mirror) {
	for _, m := range all {
		if !slices.Contains(once, m) {
			once = append(once, m)
		}
	}
	return once
}
