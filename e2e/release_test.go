package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release binary is the same in whichever folder and by whomever it is built, with
// nothing built before.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	build := func(folder string, env ...string) []byte {
		to := filepath.Join(t.TempDir(), "binary")
		cmd := exec.Command(filepath.Join(folder, "scripts/release"), "binary", "v1.2.3", "amd64", to)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if out := output(t, ".", to, "version"); !strings.HasPrefix(out, "ebpf-bench v1.2.3 ") {
			t.Errorf("it calls itself %q", out)
		}
		for _, path := range []string{folder, repository(t), os.Getenv("HOME") + "/"} {
			if bytes.Contains(data, []byte(path)) {
				t.Errorf("it holds %s", path)
			}
		}
		return data
	}
	one := build(repository(t))
	// Use a commit, other settings, another folder.
	elsewhere := published(t)
	output(t, elsewhere, "git", "init", "-q")
	output(t, elsewhere, "git", "add", "-A")
	output(t, elsewhere, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x")
	two := build(elsewhere, "GOCACHE="+t.TempDir(), "GOAMD64=v3", "GOFLAGS=-buildvcs=true -v", "CGO_ENABLED=1")
	if !bytes.Equal(one, two) {
		t.Error("two builds differ")
	}
}

// The kernels of a release are those whose checksums are committed.
func TestReleasePacks(t *testing.T) {
	t.Parallel()
	folder := published(t)
	tool := filepath.Join(t.TempDir(), "tool")
	// kernel pack KERNEL --cache FOLDER --out FILE
	write(t, tool, []byte("#!/bin/sh\n[ \"$1 $2 $4 $6\" = 'kernel pack --cache --out' ] && printf '%s' \"$3\" >\"$7\"\n"))
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := "# Packed kernels of v1.2.3: made by make release VERSION=v1.2.3\n"
	for _, kernel := range []string{"5.10", "6.1", "6.12"} {
		lines += fmt.Sprintf("%x %d linux-%s-amd64.tar.zst\n", sha256.Sum256([]byte(kernel)), len(kernel), kernel)
	}
	for what, c := range map[string]struct {
		lines string
		ok    bool
	}{
		"those that are listed": {lines, true},
		"another":               {strings.Replace(lines, "6.12-amd64", "6.13-amd64", 1), false},
		"other bytes":           {strings.Replace(lines, " 4 linux-6.12", " 5 linux-6.12", 1), false},
		"none is listed":        {"# Packed kernels of no release yet\n", false},
	} {
		write(t, filepath.Join(folder, "internal/kernel/PACKS"), []byte(c.lines))
		out, err := exec.Command(filepath.Join(folder, "scripts/release"), "packs", tool, t.TempDir()).CombinedOutput()
		if (err == nil) != c.ok || !c.ok && !strings.Contains(string(out), "the kernels are not those of internal/kernel/PACKS") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// A text that is not a version reaches no command.
func TestReleaseVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.2.3", "v1.2", "v1.2.3 -X main.release=v9.9.9", "v1.2.3;true", "v01.2.3", "v1.2.3\n"} {
		out, err := exec.Command("../scripts/release", "binary", version, "amd64", filepath.Join(t.TempDir(), "b")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not a version such as v1.2.3") {
			t.Errorf("%q: %v\n%s", version, err, out)
		}
	}
}
