package host

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// attachSince has the first kernels with attach types newer than Linux 5.8, the
// oldest release that counts runs. That of Linux 6.7 is from
// include/uapi/linux/bpf.h.
var attachSince = map[ebpf.AttachType]string{
	ebpf.AttachCgroupInetSockRelease: "5.9",
	ebpf.AttachSkLookup:              "5.9",
	ebpf.AttachSkSKBVerdict:          "5.13",
	ebpf.AttachCgroupUnixConnect:     "6.7",
	ebpf.AttachCgroupUnixSendmsg:     "6.7",
	ebpf.AttachCgroupUnixRecvmsg:     "6.7",
	ebpf.AttachCgroupUnixGetpeername: "6.7",
	ebpf.AttachCgroupUnixGetsockname: "6.7",
}

// TooOldError says that the kernel lacks a program's attach type.
type TooOldError struct {
	release, attach, since string
	error
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("kernel %s lacks %s, which is there since Linux %s", e.release, e.attach, e.since)
}

func (e *TooOldError) Unwrap() error { return e.error }

// TooOld explains an error of a kernel that is older than a program's attach
// type. A kernel with a backport has no such error.
func TooOld(p *ebpf.ProgramSpec, err error) error {
	since, ok := attachSince[p.AttachType]
	if !ok || !errors.Is(err, unix.EINVAL) && !errors.Is(err, ebpf.ErrNotSupported) {
		return err
	}
	var name unix.Utsname
	_ = unix.Uname(&name) // fails only for a bad address
	release := unix.ByteSliceToString(name.Release[:])
	if !olderThan(release, since) {
		return err
	}
	return Cannot(&TooOldError{release, p.SectionName, since, err})
}

// olderThan compares the major and minor numbers of kernel releases.
func olderThan(release, since string) bool {
	major, minor := versionOf(release)
	sinceMajor, sinceMinor := versionOf(since)
	return major < sinceMajor || major == sinceMajor && minor < sinceMinor
}

func versionOf(release string) (major, minor int) {
	number := func(s string) int {
		if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			s = s[:i]
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	first, rest, _ := strings.Cut(release, ".")
	return number(first), number(rest)
}
