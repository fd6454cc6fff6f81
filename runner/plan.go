package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload"
)

// Plan is a suite whose benchmarks are resolved to programs and packets. To
// make one takes no privileges: what is wrong with a suite and its objects is
// found before anything is measured.
type Plan struct {
	Jobs []*Job
}

// Job is one benchmark with what it takes to measure it.
type Job struct {
	*bench.Benchmark
	Object suite.Object
	// Spec holds just the program and what it refers to.
	Spec *ebpf.CollectionSpec
	// Frames are the packets of the benchmark, none for a driver without.
	Frames [][]byte
	// Warnings are what had to be changed for the object to load.
	Warnings []string
}

// Type is the program's type in the kernel's spelling.
func (j *Job) Type() string { return typeName(j.program().Type) }

// BudgetText is the benchmark's measuring time.
func (j *Job) BudgetText() string { return time.Duration(j.Budget).String() }

func (j *Job) program() *ebpf.ProgramSpec { return j.Spec.Programs[j.Program] }

// NewPlan resolves every benchmark of the suite. It reports every problem
// that it finds, joined.
func NewPlan(s *suite.Suite) (*Plan, error) {
	specs, err := parseObjects(s.Objects)
	if err != nil {
		return nil, err
	}
	var plan Plan
	var errs []error
	for i := range s.Benchmarks {
		job, err := newJob(s, specs, &s.Benchmarks[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plan.Jobs = append(plan.Jobs, job)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &plan, nil
}

// noProgramError says that no object has a benchmark's program.
type noProgramError struct{ error }

func (e *noProgramError) Unwrap() error { return e.error }

func newJob(s *suite.Suite, specs map[string]*ebpf.CollectionSpec, b *bench.Benchmark) (*Job, error) {
	object, err := findObject(s, specs, b)
	if err != nil {
		return nil, err
	}
	job := &Job{Benchmark: b, Object: object}
	job.Spec, job.Warnings = extract(specs[object.Path], b.Program)
	if err := job.checkDriver(); err != nil {
		return nil, s.ErrorAt(b.Name, b.Driver(), "%s", err)
	}
	if err := setGlobals(job.Spec, b.Globals); err != nil {
		return nil, s.ErrorAt(b.Name, "globals", "%s", err)
	}
	if err := checkMaps(job.Spec, b.Maps); err != nil {
		return nil, s.ErrorAt(b.Name, "maps", "%s", err)
	}
	if packets := job.packets(); packets != nil {
		if job.Frames, err = workload.Packets(packets, s.ReadFile); err != nil {
			return nil, s.ErrorAt(b.Name, b.Driver(), "packets: %s", err)
		}
		if n := job.runsPerRound(); n < len(job.Frames) {
			return nil, s.ErrorAt(b.Name, b.Driver(), "%d runs a round are fewer than its %d packets", n, len(job.Frames))
		}
	}
	return job, nil
}

func (j *Job) packets() []bench.Packet {
	switch {
	case j.TestRun != nil:
		return j.TestRun.Packets
	case j.Veth != nil:
		return j.Veth.Packets
	}
	return nil
}

// runsPerRound is how many runs the packets share.
func (j *Job) runsPerRound() int {
	if j.TestRun != nil {
		return j.TestRun.Repeat
	}
	return j.Veth.Count
}

// checkDriver refuses a driver that cannot run the program's type.
func (j *Job) checkDriver() error {
	typ := j.program().Type
	switch {
	case j.Veth != nil && typ != ebpf.XDP:
		return fmt.Errorf("program %s is of type %s: veth drives xdp programs; test_run drives skb programs too", j.Program, j.Type())
	case j.PerfEvent != nil && typ != ebpf.PerfEvent:
		return fmt.Errorf("program %s is of type %s: perf_event drives perf_event programs", j.Program, j.Type())
	case j.TestRun != nil && typ != ebpf.XDP && !isSKB(typ):
		return fmt.Errorf("program %s is of type %s: test_run drives xdp and skb programs (socket_filter, sched_cls, cgroup_skb, lwt)", j.Program, j.Type())
	}
	return nil
}

// isSKB tells the program types that BPF_PROG_RUN gives a socket buffer.
func isSKB(t ebpf.ProgramType) bool {
	return slices.Contains([]ebpf.ProgramType{
		ebpf.SocketFilter, ebpf.SchedCLS, ebpf.SchedACT, ebpf.CGroupSKB,
		ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local,
	}, t)
}

// findObject finds the object that holds the benchmark's program.
func findObject(s *suite.Suite, specs map[string]*ebpf.CollectionSpec, b *bench.Benchmark) (suite.Object, error) {
	var found []suite.Object
	var have []string
	for _, o := range s.Objects {
		if b.Object != "" && o.Path != b.Object {
			continue
		}
		names := programNames(specs[o.Path])
		have = append(have, names...)
		if slices.Contains(names, b.Program) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		where := "the suite's objects have"
		if b.Object != "" {
			where = b.Object + " has"
		}
		return suite.Object{}, &noProgramError{s.ErrorAt(b.Name, "program", "unknown program %q%s: %s %s", b.Program, strictyaml.DidYouMean(b.Program, have), where, strings.Join(have, ", "))}
	default:
		return suite.Object{}, s.ErrorAt(b.Name, "program", "program %q is in %s and in %s: say which by object", b.Program, found[0].Path, found[1].Path)
	}
}

func parseObjects(objects []suite.Object) (map[string]*ebpf.CollectionSpec, error) {
	specs := map[string]*ebpf.CollectionSpec{}
	var errs []error
	for _, o := range objects {
		spec, err := parseObject(o.Data)
		if err != nil {
			errs = append(errs, bench.WithHint(fmt.Errorf("read object %s: %w", o.Path, err),
				"an object is what clang -target bpf -g -O2 -c writes, or bpf-linker for Rust"))
			continue
		}
		specs[o.Path] = spec
	}
	return specs, errors.Join(errs...)
}

// parseObject reads an ELF object. What the parser does not survive is an
// error of the object too.
func parseObject(data []byte) (spec *ebpf.CollectionSpec, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the object is malformed: %v", p)
		}
	}()
	if !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return nil, errors.New("it is no ELF file")
	}
	spec, err = ebpf.LoadCollectionSpecFromReader(bytes.NewReader(data))
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it is truncated")
	case err != nil:
		return nil, err
	}
	if len(programNames(spec)) == 0 {
		return nil, errors.New("it holds no eBPF program")
	}
	return spec, nil
}

// programNames lists the entry programs of an object.
func programNames(spec *ebpf.CollectionSpec) []string {
	var names []string
	for name, p := range spec.Programs {
		if p.Type != ebpf.UnspecifiedProgram {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
