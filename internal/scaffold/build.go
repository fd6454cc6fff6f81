package scaffold

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	aptSetup   = "sudo apt-get update -qq"
	aptInstall = "sudo apt-get install -y -qq --no-install-recommends clang llvm libbpf-dev"
)

// Committed returns the build of objects that are part of the repository.
func Committed() Build { return Build{Command: "true", Why: "the objects are in git"} }

// targets are the names of a Makefile's targets that make objects, likeliest
// first.
var targets = []string{"bpf", "ebpf", "build-bpf", "build-ebpf", "bpf-objects", "objects"}

// anyTargets make objects, too, but also more.
var anyTargets = []string{"generate", "build", "all"}

// DetectBuild looks in the folder of a build for a way to make eBPF objects: a
// target of a Makefile, a Rust workspace, a go:generate comment. ok is false if
// it finds none.
func DetectBuild(fsys fs.FS) (b Build, ok bool) {
	make, found := makefile(fsys)
	if found {
		if t := firstTarget(make, targets); t != "" {
			return Build{"make " + t, "a target of the Makefile", []string{aptSetup, aptInstall}}, true
		}
	}
	if exists(fsys, "Cargo.toml") {
		return rust(fsys), true
	}
	if hasGenerate(fsys) {
		return Build{"go generate ./...", "bpf2go, as a comment in the code says", []string{aptSetup, aptInstall}}, true
	}
	if found {
		if t := firstTarget(make, anyTargets); t != "" {
			return Build{"make " + t, "a target of the Makefile", []string{aptSetup, aptInstall}}, true
		}
	}
	return Build{}, false
}

// rust returns the build of an Aya project: older templates have a task for it.
func rust(fsys fs.FS) Build {
	b := Build{"cargo build --release", "builds the eBPF programs too", []string{
		"rustup toolchain install nightly --component rust-src",
		"cargo install bpf-linker",
	}}
	task, err := fs.ReadFile(fsys, "xtask/src/main.rs")
	if err == nil && bytes.Contains(task, []byte("build_ebpf")) {
		b.Command, b.Why = "cargo xtask build-ebpf --release", "the task of the workspace"
	}
	return b
}

func makefile(fsys fs.FS) ([]byte, bool) {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if text, err := fs.ReadFile(fsys, name); err == nil {
			return text, true
		}
	}
	return nil, false
}

var targetLine = regexp.MustCompile(`(?m)^([A-Za-z0-9_./ -]+?)[ \t]*::?(.*)$`)

func firstTarget(makefile []byte, names []string) string {
	var have []string
	for _, m := range targetLine.FindAllSubmatch(makefile, -1) {
		// A name before := is a variable.
		if !bytes.HasPrefix(m[2], []byte("=")) {
			have = append(have, strings.Fields(string(m[1]))...)
		}
	}
	for _, name := range names {
		if slices.Contains(have, name) {
			return name
		}
	}
	return ""
}

// mostFiles bounds how many files to look at.
const mostFiles = 20_000

var generateLine = regexp.MustCompile(`(?m)^//go:generate .*bpf2go`)

// hasGenerate reports whether Go code below the folder generates objects.
func hasGenerate(fsys fs.FS) bool {
	found, seen := false, 0
	_ = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // a folder that cannot be read has no code
		}
		if e.IsDir() {
			if Hidden(name) {
				return fs.SkipDir
			}
			return nil
		}
		if seen++; seen > mostFiles {
			return fs.SkipAll
		}
		if e.Type().IsRegular() && path.Ext(name) == ".go" {
			if text, err := fs.ReadFile(fsys, name); err == nil && generateLine.Match(text) {
				found = true
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}

// Hidden reports whether a folder does not contain the project's own code.
func Hidden(name string) bool {
	base := path.Base(name)
	return base == "node_modules" || base == "vendor" || base != "." && base != ".." && strings.HasPrefix(base, ".")
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}
