package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// The binary of a release and the archive with its manual are the same in whichever folder
// and by whomever they are built, with nothing built before.
func TestReleaseIsReproducible(t *testing.T) {
	testenv.Long(t, "builds a release twice")
	t.Parallel()
	testenv.Takes(t, 8*time.Minute)
	build := func(folder string, env ...string) (files [][]byte) {
		to := t.TempDir()
		for _, args := range [][]string{
			{"binary", "v1.2.3", "amd64", filepath.Join(to, "binary")},
			{"binary", "v1.2.3", "arm64", filepath.Join(to, "arm64")},
			{"manual", "v1.2.3", filepath.Join(to, "manual.tar")},
		} {
			cmd := exec.Command(filepath.Join(folder, "scripts/release"), args...)
			cmd.Env = append(os.Environ(), env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			data, err := os.ReadFile(args[len(args)-1])
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{folder, repository(t), os.Getenv("HOME") + "/"} {
				if bytes.Contains(data, []byte(path)) {
					t.Errorf("%s holds %s", args[0], path)
				}
			}
			files = append(files, data)
		}
		if out := output(t, ".", filepath.Join(to, "binary"), "version"); !strings.HasPrefix(out, "ebpf-bench v1.2.3 ") {
			t.Errorf("it calls itself %q", out)
		}
		return files
	}
	one := build(repository(t))
	checkManual(t, one[2])
	// Use a commit, other settings, another folder, another time.
	elsewhere := published(t)
	output(t, elsewhere, "git", "init", "-q")
	output(t, elsewhere, "git", "add", "-A")
	output(t, elsewhere, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x")
	two := build(elsewhere, "GOCACHE="+t.TempDir(), "GOAMD64=v3", "GOFLAGS=-buildvcs=true -v", "CGO_ENABLED=1", "SOURCE_DATE_EPOCH=1700000000", "TZ=Asia/Tokyo")
	for i, name := range []string{"binary for amd64", "binary for arm64", "manual"} {
		if !bytes.Equal(one[i], two[i]) {
			t.Errorf("two builds of %s differ", name)
		}
	}
}

// checkManual checks that an archive has man pages and completions, where a prefix such as
// /usr/local has them, and nothing of the machine that packed it.
func checkManual(t *testing.T, archive []byte) {
	t.Helper()
	want := map[string]string{
		"share/man/man1/ebpf-bench.1":                     `.TH "EBPF-BENCH" "1" "" "ebpf-bench v1.2.3" "ebpf-bench manual"`,
		"share/man/man1/ebpf-bench-compare.1":             `.TH "EBPF-BENCH-COMPARE" "1" "" "ebpf-bench v1.2.3"`,
		"share/man/man1/ebpf-bench-kernel-add.1":          ".SH SYNOPSIS",
		"share/bash-completion/completions/ebpf-bench":    "complete -o default -F __start_ebpf-bench ebpf-bench",
		"share/zsh/site-functions/_ebpf-bench":            "#compdef ebpf-bench",
		"share/fish/vendor_completions.d/ebpf-bench.fish": "complete -c ebpf-bench",
	}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want[h.Name]) {
			t.Errorf("%s lacks %q:\n%.300s", h.Name, want[h.Name], text)
		}
		delete(want, h.Name)
		if h.Typeflag != tar.TypeReg || h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s: %+v", h.Name, h)
		}
		if !strings.HasPrefix(h.Name, "share/") || strings.HasPrefix(h.Name, "share/man/") && !strings.HasPrefix(h.Name, "share/man/man1/ebpf-bench") {
			t.Errorf("it has %s", h.Name)
		}
	}
	for name := range want {
		t.Errorf("it lacks %s", name)
	}
}

// The kernels of a release are those whose checksums are committed.
func TestReleasePacks(t *testing.T) {
	testenv.Long(t, "packs kernels")
	t.Parallel()
	folder := published(t)
	tool := filepath.Join(t.TempDir(), "tool")
	// kernel pack KERNEL --cache FOLDER --out FILE
	testenv.Write(t, tool, []byte("#!/bin/sh\n[ \"$1 $2 $4 $6\" = 'kernel pack --cache --out' ] && printf '%s' \"$3\" >\"$7\"\n"))
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
		testenv.Write(t, filepath.Join(folder, "internal/kernel/PACKS"), []byte(c.lines))
		out, err := exec.Command(filepath.Join(folder, "scripts/release"), "packs", tool, t.TempDir()).CombinedOutput()
		if (err == nil) != c.ok || !c.ok && !strings.Contains(string(out), "the kernels are not those of internal/kernel/PACKS") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// A text that is not a version reaches no command.
func TestReleaseVersion(t *testing.T) {
	testenv.Long(t, "makes a release")
	t.Parallel()
	for _, version := range []string{"", "1.2.3", "v1.2", "v1.2.3 -X main.release=v9.9.9", "v1.2.3;true", "v01.2.3", "v1.2.3\n"} {
		out, err := exec.Command("../scripts/release", "binary", version, "amd64", filepath.Join(t.TempDir(), "b")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not a version such as v1.2.3") {
			t.Errorf("%q: %v\n%s", version, err, out)
		}
	}
}
