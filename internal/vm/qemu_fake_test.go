package vm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakeEnv selects the behaviour of a fake QEMU.
const fakeEnv = "VM_TEST_QEMU"

// newFakeCmd returns a command whose QEMU is this test binary, to test what a
// real one seldom does.
func newFakeCmd(t *testing.T, behaviour string) *Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, qemuName)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv(fakeEnv, behaviour)
	image := make([]byte, 4096)
	copy(image[0x202:], "HdrS")
	return &Cmd{Image: tempFile(t, image), Path: guestBinary(t)}
}

// fakeQEMU never returns.
func fakeQEMU() {
	qmp := os.NewFile(monitorFD, "monitor")
	port := os.NewFile(portFD, "port")
	switch os.Getenv(fakeEnv) {
	case "pause":
		fakePause(qmp)
	case "abort":
		fmt.Fprintf(os.Stderr, "%s: error: failed to set MSR 0x10a to 0x69\n", qemuName)
		check(unix.Kill(os.Getpid(), unix.SIGABRT))
	case "damage":
		fmt.Fprint(port, "this is not a frame at all\n")
	case "mute":
		os.Exit(7)
	case "flood":
		for line := bytes.Repeat([]byte("x"), 1<<20); ; {
			_, err := os.Stderr.Write(line)
			check(err)
		}
	case "message":
		for text := bytes.Repeat([]byte(`"`), 1<<20); ; text = bytes.Repeat([]byte("x"), 1<<20) {
			if _, err := qmp.Write(text); err != nil {
				select {}
			}
		}
	case "script":
		// Behave like a script that does not exec the real one.
		cmd := exec.Command(selfExe)
		cmd.Args[0] = qemuName // any other name would run the tests once more
		cmd.Env = append(os.Environ(), fakeEnv+"=outlive")
		cmd.ExtraFiles = []*os.File{os.NewFile(initramfsFD, ""), os.NewFile(consoleFD, ""), port, qmp}
		check(cmd.Run())
	case "outlive": // the script, until nobody listens any more
		io.Copy(io.Discard, qmp)
		os.Exit(0)
	case "complain":
		fmt.Fprintf(os.Stderr, "%s: warning: never mind\n%[1]s: invalid accelerator\n", qemuName)
		os.Exit(1)
	}
	io.Copy(io.Discard, qmp) // until it is killed
	select {}
}

// fakePause is a QEMU whose guest is paused by an internal error.
func fakePause(qmp io.ReadWriter) {
	fmt.Fprintln(qmp, `{"QMP":{"version":{"qemu":{"major":9,"minor":8,"micro":7},"package":"fake"}}}`)
	lines := bufio.NewScanner(qmp)
	for lines.Scan() {
		var command struct{ Execute string }
		check(json.Unmarshal(lines.Bytes(), &command))
		switch command.Execute {
		case qmpCapabilities:
			fmt.Fprintln(qmp, `{"return":{}}`)
			fmt.Fprintln(qmp, `{"event":"STOP"}`)
		case qmpStatus:
			fmt.Fprintln(qmp, `{"return":{"status":"internal-error","running":false}}`)
		}
	}
}

// withKVM substitutes a file for KVM's device.
func withKVM(t *testing.T, device string) {
	before := kvmDevice
	kvmDevice = device
	t.Cleanup(func() { kvmDevice = before })
}

func TestKVMThatPausesTheGuest(t *testing.T) {
	cmd := newFakeCmd(t, "pause")
	withKVM(t, tempFile(t, nil))
	cmd.Mode = KVM
	wantFault(t, cmd, ErrKVM, "QEMU paused the guest: internal-error")
	if want := "9.8.7 (fake)"; cmd.Info.QEMU != want {
		t.Errorf("QEMU is %q, want %q", cmd.Info.QEMU, want)
	}
}

func TestKVMThatAborts(t *testing.T) {
	cmd := newFakeCmd(t, "abort")
	withKVM(t, tempFile(t, nil))
	cmd.Mode = KVM
	wantFault(t, cmd, ErrKVM, "failed to set MSR")
}

func TestAMachineWithoutKVM(t *testing.T) {
	cmd := newFakeCmd(t, "abort")
	withKVM(t, "/nowhere/kvm")
	cmd.Mode = KVM
	wantFault(t, cmd, ErrKVM, "/nowhere/kvm: no such file")
}

func TestMessagesThatAreDamaged(t *testing.T) {
	wantFault(t, newFakeCmd(t, "damage"), ErrLost, "is not a header of a frame")
}

func TestAQEMUThatEndsAtOnce(t *testing.T) {
	wantFault(t, newFakeCmd(t, "mute"), ErrQEMU, "exit status 7")
}

// If a QEMU never stops talking, only the beginning is kept.
func TestAQEMUThatFloods(t *testing.T) {
	for _, behaviour := range []string{"flood", "message"} {
		t.Run(behaviour, func(t *testing.T) {
			cmd := newFakeCmd(t, behaviour)
			cmd.Timeout = 2 * time.Second
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			wantFault(t, cmd, ErrTimeout, "")
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 {
				t.Errorf("%d MiB were allocated", grown>>20)
			}
		})
	}
}

func TestAScriptInPlaceOfQEMUEndsWithWhatItRuns(t *testing.T) {
	cmd := newFakeCmd(t, "script")
	cmd.Timeout = time.Second
	began := time.Now()
	wantFault(t, cmd, ErrTimeout, "")
	// The script's child holds the ports, so Run returned only because the
	// child ended.
	t.Logf("after %s", time.Since(began))
}

func TestAQEMUThatComplains(t *testing.T) {
	wantFault(t, newFakeCmd(t, "complain"), ErrQEMU, "invalid accelerator")
}
