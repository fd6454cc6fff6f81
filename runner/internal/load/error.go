package load

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// Classes of reasons why a program does not load.
const (
	classVerifier   = "refused by the verifier"
	classTooLarge   = "too much for the verifier"
	classLicense    = "its license"
	classLacks      = "the kernel lacks what it refers to"
	classFeature    = "the kernel lacks a feature"
	classTarget     = "it takes something to attach to"
	classMap        = "a map that the kernel refuses"
	classObject     = "the object is not complete"
	classMemory     = "its maps take too much memory"
	classPermission = "it takes more rights"
	ClassOther      = "refused by the kernel"
)

// classed is an error with its class of reasons.
type classed struct {
	class string
	error
}

func (c *classed) Unwrap() error { return c.error }

// Lacking marks err as caused by a missing feature of the kernel.
func Lacking(err error) error { return &classed{classFeature, err} }

// IsError reports whether err is an error of loading.
func IsError(err error) bool {
	var c *classed
	return errors.As(err, &c)
}

// Class returns the class of reasons of an error of loading.
func Class(err error) string {
	var c *classed
	if errors.As(err, &c) {
		return c.class
	}
	return ClassOther
}

// Explain returns an error that says in one line why a program did not load,
// with a hint. It wraps err, with the verifier's log if there is one.
func Explain(spec *ebpf.CollectionSpec, program string, err error) error {
	why := reasonOf(spec, program, err)
	text := escape.Printable(fmt.Sprintf(why.format, program, why.reason))
	return bench.WithHint(&classed{why.class, host.Reword(err, text)}, why.hint)
}

// loadReason is why a program does not load.
type loadReason struct{ class, format, reason, hint string }

const (
	refusedBy   = "the verifier refuses program %s: %s"
	cannotLoad  = "load program %s: %s"
	doctorHint  = "ebpf-bench doctor says what this kernel has; --kernel NAME measures on another one"
	verboseHint = "-v prints the verifier's whole log"
)

func reasonOf(spec *ebpf.CollectionSpec, program string, err error) loadReason {
	var c *classed
	if errors.As(err, &c) {
		return loadReason{c.class, cannotLoad, c.Error(), bench.Hint(err)}
	}
	p := spec.Programs[program]
	var verifier *ebpf.VerifierError
	logged := errors.As(err, &verifier) && len(verifier.Log) > 0
	// The verifier's reason is useless for a freplace program without a target.
	if logged && isRefusal(verifier) && !Forbidden(err) && !replacesNothing(p) {
		reason, source := readLog(verifier.Log)
		if missing := missingRelocation(p, verifier); missing != "" {
			reason = missing
		}
		if reason == "" {
			reason = verifier.Cause.Error()
		}
		class, hint := classOfLog(reason)
		if source != "" {
			reason += " (at " + source + ")"
		}
		return loadReason{class, refusedBy, reason, hint}
	}
	if name, m := mapOf(spec, err); m != nil {
		return mapReason(name, m, err)
	}
	return kernelReason(p, err)
}

// replacesNothing reports whether p is a freplace program that is loaded
// without a target.
func replacesNothing(p *ebpf.ProgramSpec) bool {
	return p.Type == ebpf.Extension && p.AttachTarget == nil
}

// isRefusal reports whether the verifier itself refused the program, rather
// than an error before it was asked.
func isRefusal(err *ebpf.VerifierError) bool {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return true // the library has told what the verifier means
	}
	switch errno {
	case unix.EINTR, unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
		return false
	}
	return true
}

// Forbidden reports whether the kernel denied permission to load a program, and the
// verifier gave no reason. With all capabilities, that is a policy of this kernel: some
// forbid fentry programs, or iterators over maps.
func Forbidden(err error) bool {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		return false
	}
	var verifier *ebpf.VerifierError
	if !errors.As(err, &verifier) {
		return true
	}
	reason, _ := readLog(verifier.Log)
	return reason == ""
}

// kernelReason returns why the kernel, or the library before it, refuses a
// program without a reason from the verifier.
func kernelReason(p *ebpf.ProgramSpec, err error) loadReason {
	text := innermost(err)
	is := func(part string) bool { return strings.Contains(err.Error(), part) }
	why := loadReason{ClassOther, cannotLoad, text, ""}
	typ := object.TypeName(p.Type)
	switch {
	case is("kernel is missing symbol"), is("resolve .ksyms"), is("populating kallsyms"):
		why.class, why.hint = classLacks, "it refers to a kernel symbol (__ksym) by name: declare it __weak where it may be missing"
	case is("kfunc "):
		why.class, why.hint = classLacks, "it calls a function of the kernel (kfunc): this kernel and its modules have none of that name and type"
	case is("load kernel spec"):
		why.class, why.reason, why.hint = classLacks, "it is to be relocated for the kernel's types (CO-RE), and this kernel has none in /sys/kernel/btf", doctorHint
	case is("apply CO-RE relocations"):
		why.class, why.hint = classLacks, "guard it by bpf_core_field_exists or bpf_core_type_exists: this kernel's types are others"
	case replacesNothing(p):
		why.class, why.reason = classTarget, "a freplace program replaces a function of another program"
		why.hint = "name it by replace in a benchmark of the program whose function it replaces"
	case is("unsatisfied program reference"):
		why.class, why.reason = classObject, "it calls a function that the object does not define: "+text
		why.hint = "link the objects into one by bpftool gen object"
	case is("struct_ops"), p.Type == ebpf.StructOps:
		why.class, why.hint = classTarget, "a struct_ops program implements an interface of the kernel, which this one has to have"
	case is("attach "), errors.Is(err, btf.ErrNotFound):
		why.class, why.reason = classTarget, fmt.Sprintf("no %q in this kernel to attach to%s", p.AttachTo, strictyaml.DidYouMean(p.AttachTo, hook.Names(p)))
		why.hint = fmt.Sprintf("its section is %s: name a function, tracepoint or hook that this kernel has, or measure on another one by --kernel", p.SectionName)
	case errors.Is(err, unix.EMFILE):
		why.reason = unix.EMFILE.Error()
	case errors.Is(err, unix.E2BIG):
		why.class, why.reason = classTooLarge, fmt.Sprintf("%s instructions are more than the kernel takes", unit.Exact(float64(rawSize(p))))
		why.hint = "a program has 1,000,000 instructions at most"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		why.class, why.reason, why.hint = classPermission, unix.EPERM.Error(), rightsHint()
	case errors.Is(err, unix.ENOMEM):
		why.class, why.hint = classMemory, "free memory, or give the virtual machine more by --vm-memory"
	case errors.Is(features.HaveProgramType(p.Type), ebpf.ErrNotSupported):
		why.class, why.reason, why.hint = classFeature, "this kernel has no programs of type "+typ, doctorHint
	case errors.Is(err, ebpf.ErrNotSupported):
		why.class, why.hint = classFeature, "this kernel lacks what the program needs; "+doctorHint
	case errors.Is(err, unix.EINVAL) && p.SectionName != "":
		why.class, why.hint = classFeature, fmt.Sprintf("this kernel may not know section %s (type %s); %s", p.SectionName, typ, doctorHint)
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		why.hint = "the kernel was interrupted each time that it was asked: try again"
	}
	return why
}

// rightsHint suggests what to do if the kernel denies permission.
func rightsHint() string {
	if missing, err := probe.Capabilities(); err == nil && len(missing) == 0 {
		return "this kernel refuses it even to root, such as fentry where it cannot patch its functions: --kernel NAME measures on another one"
	}
	return "run as root, such as with sudo; ebpf-bench doctor says what this machine can do"
}

// rawSize returns the number of instructions that the kernel is given.
func rawSize(p *ebpf.ProgramSpec) int { return int(p.Instructions.Size() / 8) }

// innermost returns an error's text without the names of the loading steps,
// which repeat the program's name.
func innermost(err error) string {
	text := err.Error()
	for _, step := range []string{"program ", "load program: ", "resolve .ksyms: ", "fixing up kfuncs: "} {
		if after, ok := strings.CutPrefix(text, step); ok {
			if strings.HasSuffix(step, ": ") {
				text = after
			} else if _, after, ok := strings.Cut(after, ": "); ok {
				text = after
			}
		}
	}
	return text
}

// mostKept is how many lines of a verifier's log a result keeps; the last lines
// give the reason.
const mostKept = 5000

// Explained splits an error into the fields of a result.
func Explained(err error) (text, hint, log string) {
	var verifier *ebpf.VerifierError
	if errors.As(err, &verifier) {
		lines := verifier.Log
		if more := len(lines) - mostKept; more > 0 {
			lines = append([]string{fmt.Sprintf("(%d lines are left out)", more)}, lines[more:]...)
		}
		log = strings.Join(lines, "\n")
	}
	hint = bench.Hint(err)
	if hint == "" && errors.Is(err, unix.EMFILE) {
		hint = "raise the limit of open files, such as by ulimit -n 1024"
	}
	return err.Error(), hint, log
}
