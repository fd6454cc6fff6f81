package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Two users of nothing else.
const alice, eve = 54321, 54322

// Files that a user may not read are not opened for that user, however they are named.
func TestOrigin(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		check(t, os.Chmod(at, 0o755))
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	file := func(name string, owner int, mode os.FileMode) {
		testenv.Write(t, path(name), []byte(name))
		check(t, os.Chown(path(name), owner, 0))
		check(t, os.Chmod(path(name), mode))
	}
	for _, name := range []string{"closed", "home", "etc"} {
		check(t, os.Mkdir(path(name), 0o755))
	}
	file("secret", 0, 0o600)
	file("named twice", 0, 0o600)
	file("group", 0, 0o640)
	file("public", 0, 0o644)
	file("closed/public", 0, 0o644)
	check(t, os.Chmod(path("closed"), 0o700))
	file("home/own", alice, 0o600)
	file("etc/inside", 0, 0o644)
	check(t, os.Link(path("named twice"), path("home/name of secret")))
	check(t, os.Link(path("public"), path("home/name of public")))
	for name, to := range map[string]string{
		"link to secret": "../secret", "link to public": "../public", "link to own": "own", "link to itself": "link to itself",
		"link upward": "../../public", "link in root": "/etc/inside",
	} {
		check(t, os.Symlink(to, path("home/"+name)))
	}
	check(t, os.Symlink("closed", path("folder")))
	check(t, unix.Mkfifo(path("pipe"), 0o666))
	check(t, unix.Mknod(path("device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
	container, err := os.Open(dir)
	check(t, err)
	defer container.Close()

	root, hers, eves := OfUser(0), OfUser(alice), OfUser(eve)
	mixed := Origin{owner: alice, user: eve, known: true}
	started := Origin{owner: 0, user: alice, known: true}
	byRoot := Origin{owner: alice, user: 0, known: true}
	for _, test := range []struct {
		name   string
		origin Origin
		path   string
		opens  bool
	}{
		{"root's own", root, path("secret"), true},
		{"root's, behind a folder", root, path("closed/public"), true},
		{"root's, through a link to it", root, path("home/link to secret"), false},
		{"root's, through a link to its folder", root, path("folder/public"), false},
		{"root's, by another name", root, path("home/name of secret"), false},
		{"everybody's, through a link", root, path("home/link to public"), true},
		{"everybody's, by another name", root, path("home/name of public"), true},
		{"hers", hers, path("home/own"), true},
		{"root's, for her", hers, path("secret"), false},
		{"of root's group, for her", hers, path("group"), false},
		{"everybody's, for her", hers, path("public"), true},
		{"in a closed folder, for her", hers, path("closed/public"), false},
		{"root's, through her link", hers, path("home/link to secret"), false},
		{"hers, through a link that may be of others", hers, path("home/link to own"), false},
		{"hers, for another", eves, path("home/own"), false},
		{"hers, run by another", mixed, path("home/own"), false},
		{"everybody's, run by another", mixed, path("public"), true},
		{"root's, of root's binary run by her", started, path("secret"), false},
		{"hers, of root's binary run by her", started, path("home/own"), true},
		{"hers, run by root", byRoot, path("home/own"), true},
		{"root's, of her binary run by root", byRoot, path("secret"), false},
		{"a pipe", root, path("pipe"), false},
		{"a device", root, path("device"), false},
		{"a folder", root, dir, false},
		{"a link to itself", root, path("home/link to itself"), false},
		{"nothing", root, path("nothing"), false},
		{"named by nobody", Origin{}, path("public"), false},
		{"what a process shows", root, "/proc/self/root" + path("public"), false},
		{"in a container", Origin{root: container, known: true}, "/public", true},
		{"outside of it", Origin{root: container, known: true}, path("public"), false},
		{"above it", Origin{root: container, known: true}, "/../../.." + path("public"), false},
		{"through a link that is relative to it", Origin{root: container, known: true}, "/home/link in root", true},
		{"through a link out of it", Origin{root: container, known: true}, "/home/link upward", true}, // its own
		{"of one that is closed, in a container", Origin{root: container, owner: alice, user: alice, known: true}, "/secret", false},
	} {
		f, err := test.origin.Open(test.path)
		if opens := err == nil; opens != test.opens {
			t.Errorf("%s: opened %t, error %v", test.name, opens, err)
		}
		if err != nil && !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: the error does not name it: %v", test.name, err)
		}
		if f != nil {
			f.Close()
		}
	}
	if f, err := os.Open(path("secret")); err != nil {
		t.Errorf("this process lost its rights: %v", err)
	} else {
		f.Close()
	}
}

// A file with debug information that is neither of root nor of the binary's owner has no say,
// nor has one that the owner may not read.
func TestDebugFilesOfOthers(t *testing.T) {
	testenv.Root(t)
	path := compiled(t)
	functions := functionsOf(t, path)
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		check(t, os.Chmod(at, 0o755))
	}
	debug, stripped := filepath.Join(dir, "program.debug"), filepath.Join(dir, "program")
	run(t, "objcopy", "--only-keep-debug", path, debug)
	run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, path, stripped)
	for _, test := range []struct {
		name          string
		binary, owner int
		mode          os.FileMode
		found         bool
	}{
		{"all root's", 0, 0, 0o600, true},
		{"all hers", alice, alice, 0o600, true},
		{"root's for her", alice, 0, 0o644, true},
		{"root's, which she may not read", alice, 0, 0o600, false},
		{"hers for root's binary", 0, alice, 0o644, false},
		{"another's for her binary", alice, eve, 0o644, false},
	} {
		check(t, os.Chown(stripped, test.binary, 0))
		check(t, os.Chown(debug, test.owner, 0))
		check(t, os.Chmod(debug, test.mode))
		b, err := Open(stripped)
		check(t, err)
		if found := b.Frames(functions["outer"].Value) != nil; found != test.found {
			t.Errorf("%s: found %t", test.name, found)
		}
		check(t, b.Close())
	}
}

// A perf map counts if it is of the user of the process, and if that user may read it.
func TestPerfMapsOfOthers(t *testing.T) {
	testenv.Root(t)
	process := exec.Command("sleep", "60")
	process.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: alice, Gid: alice}}
	check(t, process.Start())
	defer func() { _ = process.Process.Kill(); _ = process.Wait() }()
	path := fmt.Sprintf("/tmp/perf-%d.map", process.Process.Pid)
	text := []byte("1000 10 compiled function\n")
	secret := filepath.Join(t.TempDir(), "secret")
	testenv.Write(t, secret, text)
	for _, test := range []struct {
		name  string
		owner int
		link  string
		found bool
	}{
		{"of the user", alice, "", true},
		{"of root", 0, "", false},
		{"of another user", eve, "", false},
		{"a link to what only root may read", alice, secret, false},
	} {
		if test.link != "" {
			check(t, os.Symlink(test.link, path))
		} else {
			testenv.Write(t, path, text)
		}
		check(t, os.Lchown(path, test.owner, 0))
		if found := ReadPerfMap(process.Process.Pid) != nil; found != test.found {
			t.Errorf("%s: found %t", test.name, found)
		}
		check(t, os.Remove(path))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
