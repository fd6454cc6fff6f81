package output

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// A replaced file keeps its owner, and a file created by sudo does not belong
// to root.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	t.Setenv("SUDO_UID", "1234")
	t.Setenv("SUDO_GID", "4321")
	name := filepath.Join(t.TempDir(), "out.json")
	write := func() (uid, gid uint32) {
		t.Helper()
		if err := Replace(name, func(w io.Writer) error { _, err := io.WriteString(w, "{}"); return err }); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			t.Fatal("no owner")
		}
		return stat.Uid, stat.Gid
	}
	if uid, gid := write(); uid != 1234 || gid != 4321 {
		t.Errorf("a new file is of %d:%d", uid, gid)
	}
	if err := os.Chown(name, 7, 8); err != nil {
		t.Fatal(err)
	}
	if uid, gid := write(); uid != 7 || gid != 8 {
		t.Errorf("one that was of 7:8 is of %d:%d", uid, gid)
	}
	for _, odd := range []string{"", "x", "-1", "99999999999999999999"} {
		t.Setenv("SUDO_UID", odd)
		if _, _, ok := caller(os.Getenv); ok {
			t.Errorf("SUDO_UID=%q is somebody", odd)
		}
	}
}

// What another user put where everyone can write is not replaced: they would own it, or read it.
func TestFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	t.Setenv("SUDO_UID", "1234")
	t.Setenv("SUDO_GID", "4321")
	encode := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for name, c := range map[string]struct {
		folder      os.FileMode
		folderOwner int
		owner       int
		refused     bool
	}{
		"another user's":              {os.ModeSticky | 0o777, 0, 7, true},
		"not sticky":                  {0o777, 0, 7, true},
		"root's":                      {os.ModeSticky | 0o777, 5, 0, false},
		"of the user who called sudo": {os.ModeSticky | 0o777, 0, 1234, false},
		"of the folder's owner":       {os.ModeSticky | 0o777, 7, 7, false},
		"in a folder of a group":      {0o775, 0, 7, false},
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "out")
		for _, err := range []error{
			os.WriteFile(file, []byte("old"), 0o666), os.Chown(file, c.owner, c.owner), os.Chmod(file, 0o666),
			os.Chown(folder, c.folderOwner, c.folderOwner), os.Chmod(folder, c.folder),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, before := New(file, nil)
		err := Replace(file, encode)
		text, _ := os.ReadFile(file)
		if c.refused != (before != nil) || c.refused != (err != nil) || c.refused != (string(text) == "old") {
			t.Errorf("%s: %v before, %v, and then it has %q", name, before, err, text)
		}
		if c.refused && (bench.Hint(before) == "" || bench.Hint(err) == "") {
			t.Errorf("%s: %v and %v have no hint", name, before, err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("%s: left %v, %v", name, entries, err)
		}
	}
}
