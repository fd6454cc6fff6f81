// Vmtest runs the tests of a package on another kernel, in a virtual machine:
//
//	CGO_ENABLED=0 go test -exec 'vmtest -kernel 6.1' ./internal/insn
//
// The guest has the test binary, the files of its package's folder, below a
// separate folder, the named tools, and nothing else. There is one CPU, and its
// clock counts instructions.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// inGuest is the first argument of the command in the guest.
const inGuest = "in-guest"

func main() {
	guest.Main()
	if len(os.Args) > 2 && os.Args[1] == inGuest {
		if err := settle(); err != nil {
			fmt.Fprintln(os.Stderr, "vmtest: warning: guest:", err)
		}
		code, err := test(os.Args[2], os.Args[3:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "vmtest: error: guest:", err)
			code = 1
		}
		os.Exit(code)
	}
	release := flag.String("kernel", "6.12", "the kernel, as ebpf-bench run --kernel takes it")
	memory := flag.Int("memory", 2048, "the guest's memory, in MiB")
	var g machine
	list := func(to *[]string) func(string) error {
		return func(s string) error {
			*to = append(*to, strings.Split(s, ",")...)
			return nil
		}
	}
	flag.Func("files", "globs of further files that the guest is to have, separated by commas", list(&g.globs))
	flag.Func("tools", "commands that it is to have, with their libraries, separated by commas", list(&g.tools))
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: go test -exec 'vmtest -kernel 6.1' PACKAGE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := g.run(ctx, *release, *memory, flag.Args())
	var exit *vm.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.Code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "vmtest: error:", err)
		if hint := bench.Hint(err); hint != "" {
			fmt.Fprintln(os.Stderr, "vmtest: hint:", hint)
		}
		os.Exit(1)
	}
}

// nowEnv holds the time of the start, in seconds, for the guest, whose own
// clock always starts on the same day.
const nowEnv = "VMTEST_NOW"

// settle sets the guest up as tests expect a machine to be.
func settle() error {
	now, err := strconv.ParseInt(os.Getenv(nowEnv), 10, 64)
	if err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return errors.Join(
		unix.ClockSettime(unix.CLOCK_REALTIME, &unix.Timespec{Sec: now}),
		netlink.LinkSetUp(lo),
		os.Symlink("/proc/self/fd", "/dev/fd"),
		os.Symlink("/proc/self/fd/0", "/dev/stdin"),
		os.Symlink("/usr/bin", "/bin"),
	)
}

// test runs the test in the guest, and waits for processes that lost their parent, as the
// init process of a machine does.
func test(binary string, args []string) (code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for {
		var status unix.WaitStatus
		switch pid, err := unix.Wait4(-1, &status, 0, nil); {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case pid != cmd.Process.Pid:
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}

// machine is what the guest has besides the test.
type machine struct {
	globs, tools []string
	files        map[string][]byte
}

func (g *machine) run(ctx context.Context, release string, memory int, command []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	binary := "/" + filepath.Base(command[0])
	// Add the folder, in case it has no files.
	g.files = map[string][]byte{filepath.Join(here, dir, ".vmtest"): nil}
	if g.files[binary], err = os.ReadFile(command[0]); err != nil {
		return err
	}
	if err := g.addFolder(dir); err != nil {
		return err
	}
	for _, glob := range g.globs {
		names, err := filepath.Glob(glob)
		if err != nil {
			return err
		}
		if err := g.add(here, names...); err != nil {
			return err
		}
	}
	for _, tool := range g.tools {
		if err := g.addTool(ctx, tool); err != nil {
			return err
		}
	}
	var console bytes.Buffer
	cmd := &vm.Cmd{
		Mode: vm.Exact, Memory: memory, Dir: filepath.Join(here, dir), Files: g.files,
		Env:    []string{"TMPDIR=/tmp", "PATH=" + os.Getenv("PATH"), fmt.Sprintf("%s=%d", nowEnv, time.Now().Unix())},
		Args:   append([]string{inGuest, binary}, inFolder(command[1:])...),
		Stdout: os.Stdout, Stderr: os.Stderr, Console: &console,
	}
	if err := boots(ctx, cmd, release); err != nil {
		return err
	}
	err = cmd.Run(ctx)
	var fault *vm.Fault
	if errors.As(err, &fault) {
		_, _ = os.Stderr.Write(console.Bytes())
	}
	return err
}

// here is the guest's folder for the host's files, below their names on the
// host, where they may be in a folder that the guest has, too, such as /tmp.
const here = "/here"

// add adds files by their names, below a folder.
func (g *machine) add(below string, names ...string) error {
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		if g.files[filepath.Join(below, path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// addTool adds a command and the libraries that it is linked with.
func (g *machine) addTool(ctx context.Context, tool string) error {
	path, err := exec.LookPath(tool)
	if err != nil {
		return err
	}
	// It fails for a static one, which has none.
	libraries, _ := exec.CommandContext(ctx, "ldd", path).Output()
	names := []string{path}
	for field := range strings.FieldsSeq(string(libraries)) {
		if filepath.IsAbs(field) {
			names = append(names, field)
		}
	}
	return g.add("/", names...)
}

// boots gives the command its kernel.
func boots(ctx context.Context, cmd *vm.Cmd, release string) error {
	cache, err := kernel.OpenCache("")
	if err != nil {
		return err
	}
	k, err := cache.Resolve(ctx, release)
	if err != nil {
		return err
	}
	if cmd.Image, err = k.BootFile(""); err != nil {
		return err
	}
	modules, _, err := k.Modules("veth", "dummy", "sch_ingress", "cls_bpf", "act_bpf")
	for _, m := range modules {
		cmd.Modules = append(cmd.Modules, vm.Module(m))
	}
	return err
}

// addFolder adds the regular files below a folder, but no Go source.
func (g *machine) addFolder(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) == ".go" {
			return err
		}
		return g.add(here, name)
	})
}

// inFolder removes the arguments by which go test names files of the host.
func inFolder(args []string) []string {
	var kept []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-test.testlogfile=") {
			kept = append(kept, a)
		}
	}
	return kept
}
