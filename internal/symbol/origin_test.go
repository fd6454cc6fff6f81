package symbol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
)

// Two users of nothing else, and the one that files of others are shown as, who is not nobody.
const alice, eve, overflow = 54321, 54322, 65534

// tree makes files below a folder that everybody can enter. Names that end in a slash are
// folders.
func tree(t *testing.T, files []file) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		check(t, os.Chmod(at, 0o755))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		switch {
		case f.link != "":
			check(t, os.Symlink(f.link, path))
		case strings.HasSuffix(f.name, "/"):
			check(t, os.Mkdir(path, 0o700))
		default:
			testenv.Write(t, path, []byte(f.name))
		}
		check(t, os.Lchown(path, f.owner, f.owner))
		if f.link == "" {
			check(t, unix.Chmod(path, f.mode))
		}
	}
	return dir
}

type file struct {
	name  string
	owner int
	mode  uint32
	link  string
}

// What a user may not read is not opened for that user, however it is named, and neither is what
// a third user put there.
func TestOrigin(t *testing.T) {
	testenv.Root(t)
	dir := tree(t, []file{
		{"secret", 0, 0o600, ""},
		{"group", 0, 0o640, ""},
		{"public", 0, 0o644, ""},
		{"denied to its group", 0, 0o604, ""},
		{"of another namespace", overflow, 0o600, ""},
		{"closed/", 0, 0o700, ""},
		{"closed/public", 0, 0o644, ""},
		{"closed to its group/", 0, 0o705, ""},
		{"closed to its group/public", 0, 0o644, ""},
		{"folder", 0, 0, "closed"},
		{"to secret", 0, 0, "secret"},
		{"hers/", alice, 0o755, ""},
		{"hers/own", alice, 0o600, ""},
		{"hers/moved", 0, 0o600, ""},
		{"hers/public", 0, 0o644, ""},
		{"hers/to own", alice, 0, "own"},
		{"hers/to secret", alice, 0, "../secret"},
		{"hers/to public", alice, 0, "../public"},
		{"hers/upward", alice, 0, "../../../public"},
		{"hers/from the root", alice, 0, "/etc/inside"},
		{"hers/to itself", alice, 0, "to itself"},
		{"hers/far/", alice, 0o755, ""},
		{"hers/group/", alice, 0o775, ""},
		{"hers/group/own", alice, 0o600, ""},
		{"hers/same/", alice, 0o775, ""},
		{"hers/same/own", alice, 0o600, ""},
		{"listed/", 0, 0o775, ""},
		{"listed/root's", 0, 0o600, ""},
		{"closed to a listed group", 0, 0o644, ""},
		{"closed to another/", 0, 0o755, ""},
		{"closed to another/public", 0, 0o644, ""},
		{"eves/", eve, 0o755, ""},
		{"eves/moved", alice, 0o600, ""},
		{"eves/public", alice, 0o644, ""},
		{"eves/to hers", eve, 0, "../hers/own"},
		{"shared/", 0, 0o777, ""},
		{"shared/hers", alice, 0o600, ""},
		{"shared/public", alice, 0o644, ""},
		{"sticky/", 0, 0o1777, ""},
		{"sticky/hers", alice, 0o600, ""},
		{"sticky/public", alice, 0o644, ""},
		{"sticky/to hers", alice, 0, "hers"},
		{"sticky/folder/", alice, 0o700, ""},
		{"sticky/folder/hers", alice, 0o600, ""},
		{"etc/", 0, 0o755, ""},
		{"etc/inside", 0, 0o644, ""},
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.Chown(path("hers/group"), alice, eve))
	list(t, path("listed"), listed{namedUser, alice, 7})
	list(t, path("closed to a listed group"), listed{namedGroup, alice, 0})
	list(t, path("closed to another"), listed{namedGroup, alice, 0})
	check(t, os.Link(path("secret"), path("hers/secret by another name")))
	check(t, unix.Mkfifo(path("pipe"), 0o666))
	check(t, unix.Mknod(path("device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
	folder, err := os.Open(dir)
	check(t, err)
	defer folder.Close()
	container := &Root{folder: folder}

	root, hers, eves := OfUser(nil, 0), OfUser(nil, alice), OfUser(nil, eve)
	mixed := Origin{owner: alice, user: eve, known: true}
	started := Origin{owner: 0, user: alice, known: true}
	byRoot := Origin{owner: alice, user: 0, known: true}
	inside := OfUser(container, 0)
	kernels, err := os.Open("/sys")
	check(t, err)
	defer kernels.Close()
	for _, test := range []struct {
		name   string
		origin Origin
		path   string
		opens  bool
	}{
		{"root's own", root, path("secret"), true},
		{"root's, behind a folder", root, path("closed/public"), true},
		{"root's, through root's link", root, path("to secret"), true},
		{"root's, through root's link to its folder", root, path("folder/public"), true},
		{"root's, by a relative path", root, "origin.go", false},
		{"root's, moved to her folder", root, path("hers/moved"), false},
		{"root's, through her link", root, path("hers/to secret"), false},
		{"root's, by another name in her folder", root, path("hers/secret by another name"), false},
		{"everybody's, in her folder", root, path("hers/public"), true},
		{"everybody's, through her link", root, path("hers/to public"), true},
		{"hers, for root", root, path("hers/own"), true},
		{"hers, moved to a folder of another, for root", root, path("eves/moved"), false},
		{"hers, in a folder of all, for root", root, path("shared/hers"), false},
		{"everybody's, in a folder of all", root, path("shared/public"), true},
		{"hers", hers, path("hers/own"), true},
		{"hers, through her link", hers, path("hers/to own"), true},
		{"root's, for her", hers, path("secret"), false},
		{"of root's group, for her", hers, path("group"), false},
		{"everybody's, for her", hers, path("public"), true},
		{"all but a group's, for her", hers, path("denied to its group"), false},
		{"in a closed folder, for her", hers, path("closed/public"), false},
		{"in a folder that is closed to a group, for her", hers, path("closed to its group/public"), false},
		{"root's, for her, through her link", hers, path("hers/to secret"), false},
		{"hers, where another wrote", hers, path("eves/moved"), false},
		{"hers, through a link of another", hers, path("eves/to hers"), false},
		{"everybody's, where another wrote", hers, path("eves/public"), true},
		{"hers, where a group writes", hers, path("hers/group/own"), false},
		{"hers, where a group with her number writes, which she is not in", hers, path("hers/same/own"), false},
		{"root's, where a list lets her write", root, path("listed/root's"), false},
		{"all but a listed group's, for root", root, path("closed to a listed group"), true},
		{"all but a listed group's, for her", hers, path("closed to a listed group"), false},
		{"in a folder that is closed to a listed group, for her", hers, path("closed to another/public"), false},
		{"hers, where all write", hers, path("shared/hers"), false},
		{"hers, in a folder such as /tmp", hers, path("sticky/hers"), false},
		{"hers, through a link in a folder such as /tmp", hers, path("sticky/to hers"), false},
		{"everybody's, in a folder such as /tmp", hers, path("sticky/public"), true},
		{"hers, in her folder in one such as /tmp", hers, path("sticky/folder/hers"), true},
		{"hers, for another", eves, path("hers/own"), false},
		{"hers, run by another", mixed, path("hers/own"), false},
		{"everybody's, run by another", mixed, path("public"), true},
		{"root's, of root's binary run by her", started, path("secret"), false},
		{"hers, of root's binary run by her", started, path("hers/own"), true},
		{"hers, run by root", byRoot, path("hers/own"), true},
		{"root's, of her binary run by root", byRoot, path("secret"), false},
		{"everybody's, for nobody", Public, path("public"), true},
		{"root's, for nobody", Public, path("secret"), false},
		{"of another namespace, for nobody", Public, path("of another namespace"), false},
		{"a pipe", root, path("pipe"), false},
		{"a device", root, path("device"), false},
		{"a folder", root, dir, false},
		{"a file in a file", root, path("public/more"), false},
		{"a link to itself", root, path("hers/to itself"), false},
		{"a path of many folders", root, dir + strings.Repeat("/hers/far/../..", 100) + "/public", false},
		{"nothing", root, path("nothing"), false},
		{"named by nobody knows whom", Origin{}, path("public"), false},
		{"what a process shows", root, "/proc/self/root" + path("public"), false},
		{"what the kernel shows", root, "/proc/version", false},
		{"a setting of a device", root, "/sys/kernel/mm/transparent_hugepage/enabled", false},
		{"in a container", inside, "/public", true},
		{"outside of it", inside, path("public"), false},
		{"above it", inside, "/../../.." + path("public"), false},
		{"through a link from its root", inside, "/hers/from the root", true},
		{"through a link out of it", inside, "/hers/upward", true}, // its own
		{"what the kernel shows, from the root", OfUser(&Root{folder: kernels}, 0), "/kernel/notes", false},
		{"of one that is closed, in a container", OfUser(container, alice), "/secret", false},
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

// listed is an entry of an access control list, as linux/posix_acl_xattr.h has it.
type listed struct {
	kind   uint16
	id     uint32
	rights uint16
}

const (
	owner, namedUser, group, namedGroup, mask, other = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20 // linux/posix_acl.h
	unnamed                                          = 1<<32 - 1
)

// list gives a file an access control list, with an entry beside those of its mode.
func list(t *testing.T, path string, more listed) {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	mode := uint16(info.Mode().Perm())
	entries := []listed{{owner, unnamed, mode >> 6}, more, {group, unnamed, mode >> 3 & 7}, {mask, unnamed, mode >> 3 & 7}, {other, unnamed, mode & 7}}
	slices.SortFunc(entries, func(a, b listed) int { return int(a.kind) - int(b.kind) })
	text := binary.LittleEndian.AppendUint32(nil, 2) // its version
	for _, e := range entries {
		text = binary.LittleEndian.AppendUint16(text, e.kind)
		text = binary.LittleEndian.AppendUint16(text, e.rights)
		text = binary.LittleEndian.AppendUint32(text, e.id)
	}
	check(t, unix.Setxattr(path, "system.posix_acl_access", text, 0))
}

// A group is its user's own if nobody else is in it.
func TestPrivateGroups(t *testing.T) {
	passwd := "root:x:0:0:root:/root:/bin/bash\noperator:x:11:0::/:\nann:x:1000:1000::/:\nbob:x:1001:1001::/:\neve:x:1002:1001::/:\ncid:x:1003:1003::/:\ndan:x:1004:1004::/:\nfay:x:1006:1000006::/:\nmalformed\n"
	groups := "root:x:0:\nann:x:1000:\nbob:x:1001:\ncid:x:1003:eve\ndan:x:1004:dan\nghost:x:1005:\nfay:x:1006:\nmalformed:x:1007\n"
	for _, test := range []struct {
		name    string
		id      uint32
		private bool
	}{
		{"of a user", 1000, true},
		{"of root, with a user of another number", 0, false},
		{"of a user, with another whose group it is", 1001, false},
		{"of a user, with another member", 1003, false},
		{"of a user who is listed as a member", 1004, true},
		{"of nobody", 1005, false},
		{"of a user whose group is another", 1006, false},
		{"that is malformed", 1007, false},
		{"that is not there", 2000, false},
	} {
		if private := isPrivate(test.id, passwd, groups); private != test.private {
			t.Errorf("%s: private %t", test.name, private)
		}
	}
}

// What a process has mapped is opened if its user may read it, which executing does not take.
func TestMappedFiles(t *testing.T) {
	testenv.Root(t)
	cat, err := exec.LookPath("cat")
	check(t, err)
	text, err := os.ReadFile(cat)
	check(t, err)
	path := filepath.Join(tree(t, nil), "program")
	for _, test := range []struct {
		name  string
		mode  os.FileMode
		group uint32 // of the process
		gone  bool
		opens bool
	}{
		{"that all may read", 0o755, alice, false, true},
		{"that was deleted", 0o755, alice, true, true},
		{"that she may execute, and not read", 0o711, alice, false, false},
		{"that was deleted, and that she may not read", 0o711, alice, true, false},
		{"that her group may read", 0o750, eve, false, true},
	} {
		testenv.Write(t, path, text)
		check(t, os.Chown(path, 0, eve))
		check(t, os.Chmod(path, test.mode))
		process := exec.Command(path)
		process.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: alice, Gid: test.group}}
		in, err := process.StdinPipe()
		check(t, err)
		out, err := process.StdoutPipe()
		check(t, err)
		check(t, process.Start())
		// It answers when all of it is mapped.
		_, err = in.Write([]byte{1})
		check(t, err)
		_, err = io.ReadFull(out, make([]byte, 1))
		check(t, err)
		check(t, os.Remove(path))
		if !test.gone {
			testenv.Write(t, path, text)
		}
		p, err := ReadProcess(process.Process.Pid)
		check(t, err)
		maps, err := os.Open(p.file("maps"))
		check(t, err)
		mapped, err := ParseMaps(maps)
		check(t, errors.Join(err, maps.Close()))
		f, err := p.OpenMapped(nil, mapped[0].Start, mapped[0].End)
		if opens := err == nil; opens != test.opens || !opens && !errors.Is(err, unix.EACCES) {
			t.Errorf("a file %s: opened %t, %v", test.name, opens, err)
		}
		if f != nil {
			f.Close()
		}
		if _, err := p.OpenMapped(nil, 1<<12, 2<<12); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("nothing: %v", err)
		}
		check(t, process.Process.Kill())
		_ = process.Wait() // it was killed
		_ = os.Remove(path)
	}
}

// Files count if their file system is made of files, also one that is mounted in the namespace
// of the process alone, or nowhere. Who mounted one in another user namespace can have anything
// below an overlay.
func TestFileSystems(t *testing.T) {
	testenv.Root(t)
	text, err := os.ReadFile("/proc/self/mountinfo")
	check(t, err)
	shared := strings.Fields(string(text))[2]
	const id = 1<<64 - 1
	for _, test := range []struct {
		system, device string
		foreign        bool
		admitted       bool
	}{
		{"ext4", "0:999", false, true},
		{"ext4", "0:999", true, true},
		{"tmpfs", "0:999", true, true},
		{"overlay", "0:999", false, true},
		{"overlay", "0:999", true, false},
		{"overlay", shared, true, true},
		{"fuse", "0:999", false, false},
		{"fuse.sshfs", "0:999", false, false},
		{"fuseblk", "8:1", false, false},
		{"proc", "0:999", false, false},
		{"autofs", "0:999", false, false},
	} {
		path := filepath.Join(t.TempDir(), "mountinfo")
		testenv.Write(t, path, fmt.Appendf(nil, "malformed\n1 2 %s / /mnt rw shared:1 - %s source rw\n%d 1 %s / / rw,relatime - %[2]s source rw\n", test.device, test.system, uint64(id), test.device))
		list, err := os.Open(path)
		check(t, err)
		root := &Root{mounts: &mounts{file: list}, foreign: test.foreign}
		if admitted := root.admits(entry{Statx_t: unix.Statx_t{Mnt_id: id}}); admitted != test.admitted {
			t.Errorf("%+v: admitted %t", test, admitted)
		}
		if root.admits(entry{Statx_t: unix.Statx_t{Mnt_id: id - 1, Dev_minor: 999}}) {
			t.Error("what is mounted nowhere is admitted")
		}
		check(t, list.Close())
	}
	fd, err := unix.MemfdCreate("program", 0)
	check(t, err)
	defer unix.Close(fd)
	e, err := inspect(fd)
	check(t, err)
	var none *Root
	if !none.admits(e) {
		t.Error("a file in memory is not admitted")
	}
}

// A list of mounts is read when it has changed, and only then: it can be long.
func TestMounts(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	check(t, thread.Own(func() error {
		if err := errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")); err != nil {
			return err
		}
		text, err := os.ReadFile("/proc/thread-self/mountinfo")
		if err != nil {
			return err
		}
		once, err := openMounts("/proc/thread-self/mountinfo", budget.New(2*int64(len(text))+1))
		if err != nil {
			return err
		}
		defer once.file.Close()
		for range 2 {
			if known, err := once.has("0:9999"); known || err != nil {
				t.Errorf("read once: %t, %v", known, err)
			}
		}
		if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			return err
		}
		if _, _, err := once.mount(1); err == nil {
			t.Error("a list that changed is not read again")
		}
		once.budget = nil
		fd, err := unix.Open(dir, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		e, err := inspect(fd)
		if m, known, err2 := once.mount(e.Mnt_id); m.system != "tmpfs" || !known {
			t.Errorf("what was mounted is %+v, %t, %v", m, known, errors.Join(err, err2))
		}
		return nil
	}))
	path := filepath.Join(dir, "many")
	testenv.Write(t, path, bytes.Repeat([]byte("1 2 0:3 / / rw - ext4 source rw\n"), maxMounts/32+1))
	many, err := os.Open(path)
	check(t, err)
	defer many.Close()
	if _, err := (&mounts{file: many}).has("0:3"); err == nil {
		t.Error("there is no bound to mounts")
	}
}

// The root of a process keeps what is mounted below it, and tells whether users without rights
// mount there.
func TestRoots(t *testing.T) {
	testenv.Root(t)
	for name, flags := range map[string]uintptr{"its own": syscall.CLONE_NEWNS, "of another user namespace": syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER} {
		process := exec.Command("sh", "-c", "mount -t tmpfs none /mnt && echo inside >/mnt/file && echo ready && exec sleep 60")
		maps := []syscall.SysProcIDMap{{Size: 1}}
		process.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			process.SysProcAttr.UidMappings, process.SysProcAttr.GidMappings = maps, maps
		} else {
			process.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // makes mounts private
		}
		output, err := process.StdoutPipe()
		check(t, err)
		check(t, process.Start())
		if _, err := output.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%s: nothing is mounted: %v", name, err)
		}
		p, err := ReadProcess(process.Process.Pid)
		check(t, err)
		root, err := p.OpenRoot(nil)
		check(t, err)
		check(t, process.Process.Kill())
		_ = process.Wait() // it was killed
		if foreign := flags&syscall.CLONE_NEWUSER != 0; root.foreign != foreign {
			t.Errorf("%s: foreign %t", name, root.foreign)
		}
		f, err := OfUser(root, 0).Open("/mnt/file")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f.Close()
	}
}

// The paths in a file that others can write to are nobody's.
func TestOriginOfASharedFile(t *testing.T) {
	testenv.Root(t)
	dir := tree(t, []file{{"root's", 0, 0o755, ""}, {"everybody's", 0, 0o757, ""}, {"a group's", 0, 0o775, ""}, {"secret", 0, 0o600, ""}})
	check(t, os.Chown(filepath.Join(dir, "a group's"), 0, alice))
	for name, opens := range map[string]bool{"root's": true, "everybody's": false, "a group's": false} {
		f, err := os.Open(filepath.Join(dir, name))
		check(t, err)
		defer f.Close()
		secret, err := OfUser(nil, 0).Of(f).Open(filepath.Join(dir, "secret"))
		if (err == nil) != opens {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			secret.Close()
		}
	}
}

// Whoever holds a lease of a file does not make this process wait.
func TestOriginDoesNotWait(t *testing.T) {
	testenv.Root(t)
	dir := tree(t, []file{{"leased", 0, 0o644, ""}})
	path := filepath.Join(dir, "leased")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	defer f.Close()
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	check(t, err)
	opened := make(chan error)
	go func() {
		f, err := OfUser(nil, 0).Open(path)
		if err == nil {
			f.Close()
		}
		opened <- err
	}()
	if err := <-opened; !errors.Is(err, unix.EAGAIN) {
		t.Errorf("got %v", err)
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

// A perf map counts if it is of the user of the process, also when that has ended, and if
// everybody may read it: anybody can put a file into /tmp.
func TestPerfMapsOfOthers(t *testing.T) {
	testenv.Root(t)
	process := exec.Command("sleep", "60")
	process.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: alice, Gid: alice}}
	check(t, process.Start())
	p, err := ReadProcess(process.Process.Pid)
	check(t, errors.Join(err, process.Process.Kill()))
	_ = process.Wait() // it was killed
	path := fmt.Sprintf("/tmp/perf-%d.map", p.Number)
	text := []byte("1000 10 compiled function\n")
	secret := filepath.Join(t.TempDir(), "secret")
	testenv.Write(t, secret, text)
	for _, test := range []struct {
		name  string
		owner int
		mode  os.FileMode
		link  string
		found bool
	}{
		{"of the user", alice, 0o644, "", true},
		{"of the user alone", alice, 0o600, "", false},
		{"of root", 0, 0o644, "", false},
		{"of another user", eve, 0o644, "", false},
		{"that anybody can write", alice, 0o666, "", false},
		{"a link to what only root may read", alice, 0, secret, false},
	} {
		if test.link != "" {
			check(t, os.Symlink(test.link, path))
		} else {
			testenv.Write(t, path, text)
			check(t, os.Chmod(path, test.mode))
		}
		check(t, os.Lchown(path, test.owner, test.owner))
		if found := ReadPerfMap(p, nil, nil) != nil; found != test.found {
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
