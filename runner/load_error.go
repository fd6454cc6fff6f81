package runner

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// refusal is a program that the verifier did not take, told in one line; the
// *ebpf.VerifierError that it wraps has the whole log.
type refusal struct {
	program, reason, source string
	verifier                *ebpf.VerifierError
}

func (r *refusal) Error() string {
	msg := fmt.Sprintf("the verifier refuses program %s: %s", r.program, r.reason)
	if r.source != "" {
		msg += " (at " + r.source + ")"
	}
	return msg
}

func (r *refusal) Unwrap() error { return r.verifier }

// isRefusal tells the verifier's own errors from those of whoever could not
// even ask it.
func isRefusal(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.E2BIG) ||
		errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EFAULT)
}

// explainLoad says in one line why a program did not load.
func explainLoad(j *Job, err error) error {
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) && len(verifier.Log) > 0 && isRefusal(err) {
		reason, source := readLog(verifier.Log)
		if reason == "" {
			reason = verifier.Cause.Error()
		}
		return bench.WithHint(&refusal{j.Program, reason, source, verifier}, "ebpf-bench run -v prints the verifier's whole log")
	}
	err = fmt.Errorf("load program %s: %w", j.Program, err)
	switch {
	case errors.Is(err, unix.EPERM):
		return bench.WithHint(err, "run as root, such as with sudo; ebpf-bench doctor says what this machine can do")
	case errors.Is(err, ebpf.ErrNotSupported):
		return bench.WithHint(err, "this kernel lacks what the program needs; ebpf-bench doctor says what it has")
	}
	return err
}

var (
	registerLine    = regexp.MustCompile(`^R\d`)
	instructionLine = regexp.MustCompile(`^\d+: \(`)
)

// readLog finds in a verifier log the line that says why a program was
// refused, and the source line that the refused instruction came from: the
// last one that is quoted before it.
func readLog(log []string) (reason, source string) {
	end := len(log)
	for end > 0 && (strings.HasPrefix(log[end-1], "processed ") || strings.TrimSpace(log[end-1]) == "") {
		end--
	}
	if end == 0 {
		return "", ""
	}
	reason = strings.TrimSpace(log[end-1])
	// A line about a register explains the line before it.
	if end > 1 && registerLine.MatchString(reason) && !instructionLine.MatchString(log[end-2]) {
		reason = strings.TrimSpace(log[end-2]) + ": " + reason
	}
	for _, line := range log[:end-1] {
		if s, ok := strings.CutPrefix(line, "; "); ok {
			source = s
		}
	}
	// Since Linux 6.9 a quoted line ends in "@ file.c:41".
	if text, where, ok := strings.Cut(source, " @ "); ok {
		source = where + ": " + strings.TrimSpace(text)
	}
	return reason, source
}

// told is what a result has of an error.
func told(err error) (text, hint, log string) {
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) {
		log = strings.Join(verifier.Log, "\n")
	}
	return err.Error(), bench.Hint(err), log
}
