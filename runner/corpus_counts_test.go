package runner

import (
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// corpusTest tests programs on this kernel, on one CPU, because maps have
// values for each CPU and programs may ask which one they run on.
type corpusTest struct {
	cpu    uint32
	repeat int
	types  *btf.Cache
}

// corpusTotal has the figures of all programs of a corpus.
type corpusTotal struct {
	programs, loadable int
	// counted are the loadable ones that load with both placements of counters.
	counted, ran, runs, mismatches int
	// oracleRuns are the runs that the interpreter repeated.
	oracleRuns, oracleMismatches int
	// divergent are programs whose runs differ with the answers of helpers.
	divergent int
	// verified is the verifier's work for the counted ones without counters.
	verified, minimal, everyBlock int
	// logged are the loadable ones that load when they also write down keys and operands.
	logged        int
	insns         int
	instrumenting time.Duration
}

// Of the programs that load, at least 995 in 1000 also load with counters, and when they
// write down keys and operands, and with few counters the verifier's work grows by at most
// a third. If
// BPF_PROG_TEST_RUN can run a program, it does the same with counters as
// without. Each repeat, all forms with counters and run_cnt agree on the
// number of executions. If the interpreter knows everything that the program
// does, it agrees for each instruction.
func TestCorpusCounts(t *testing.T) {
	objects := corpus(t, true)
	stats, err := driver.EnableStats()
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Close()
	runtime.LockOSThread() // the thread ends with the test
	cpus, err := thread.Pin()
	if err != nil {
		t.Fatal(err)
	}
	test := &corpusTest{cpu: uint32(cpus[len(cpus)-1]), repeat: *corpusRepeat, types: btf.NewCache()}
	var total corpusTotal
	refused := tally{}
	for _, o := range objects {
		read, err := object.Parse(o.data)
		if err != nil {
			t.Logf("%s: not read: %v", o.name, err)
			continue
		}
		for _, name := range read.Programs() {
			p := corpusProgram{program: name}
			test.check(read, &p)
			if p.refused != nil {
				refused[load.Class(p.refused)]++
			}
			p.log(t, o.name)
			total.add(&p)
		}
	}
	refused.log(t, "not loadable as it is")
	x := &total
	growth, everyBlock := float64(x.minimal)/float64(max(x.verified, 1)), float64(x.everyBlock)/float64(max(x.verified, 1))
	t.Logf("Linux %s: %d programs, %d loadable, %d (%.2f%%) counted, %d ran, %d runs (%d programs wrong), %d by the interpreter (%d wrong), %d divergent; verifier's work × %.2f, in every block × %.2f; %.2f µs an instruction",
		probe.Testbed().Kernel, x.programs, x.loadable, x.counted, percentage(x.counted, x.loadable), x.ran, x.runs, x.mismatches, x.oracleRuns, x.oracleMismatches, x.divergent,
		growth, everyBlock, float64(x.instrumenting.Microseconds())/float64(max(2*x.insns, 1)))
	if x.ran == 0 || x.oracleRuns == 0 || x.counted*1000 < x.loadable*995 {
		t.Errorf("%d of %d programs load with counters, %d ran, and the interpreter ran %d times", x.counted, x.loadable, x.ran, x.oracleRuns)
	}
	if t.Logf("%d (%.2f%%) write down keys and operands", x.logged, percentage(x.logged, x.loadable)); x.logged*1000 < x.loadable*995 {
		t.Errorf("%d of %d programs write down keys and operands", x.logged, x.loadable)
	}
	if growth > 4.0/3 {
		t.Errorf("the verifier's work grows %.3f times", growth)
	}
}

func (x *corpusTotal) add(p *corpusProgram) {
	x.programs++
	if p.refused != nil {
		return
	}
	x.loadable++
	if p.logging.refused == nil {
		x.logged++
	}
	if p.counted() {
		x.counted++
		x.verified += p.verified
		x.minimal += p.minimal.verified
		x.everyBlock += p.everyBlock.verified
	}
	x.insns += p.insns
	x.instrumenting += p.minimal.took + p.everyBlock.took
	x.runs += p.runs
	x.oracleRuns += p.oracleRuns
	for n, yes := range map[*int]bool{&x.ran: p.runs > 0, &x.mismatches: p.mismatch != "", &x.oracleMismatches: p.oracleMismatch != "", &x.divergent: len(p.divergent) > 0} {
		if yes {
			*n++
		}
	}
}

// corpusProgram has the results for one program.
type corpusProgram struct {
	program  string
	insns    int
	verified int   // the verifier's work without counters
	refused  error // why it does not load

	minimal, everyBlock, logging variant

	runs           int
	mismatch       string
	oracleRuns     int
	oracleMismatch string
	divergent      []string
}

func (p *corpusProgram) counted() bool {
	return p.refused == nil && p.minimal.refused == nil && p.everyBlock.refused == nil
}

// log reports errors of a program, which fail the test unless it merely does
// not load with counters, and oddities.
func (p *corpusProgram) log(t *testing.T, object string) {
	t.Helper()
	for _, v := range []*variant{&p.minimal, &p.everyBlock, &p.logging} {
		if v.refused != nil {
			t.Logf("%s %s: not counted, %+v: %v", object, p.program, v.options, v.refused)
		}
	}
	if p.mismatch != "" {
		t.Errorf("%s %s: wrong: %s", object, p.program, p.mismatch)
	}
	if p.oracleMismatch != "" {
		t.Errorf("%s %s: not as the interpreter: %s", object, p.program, p.oracleMismatch)
	}
	if len(p.divergent) > 0 {
		t.Logf("%s %s: divergent: %s", object, p.program, strings.Join(p.divergent, ", "))
	}
}

// check tests one program.
func (c *corpusTest) check(o *object.Object, p *corpusProgram) {
	one, _ := o.Program(p.program)
	for _, program := range one.Programs {
		p.insns += len(program.Instructions)
	}
	plain, err := c.load(one)
	if err != nil {
		p.refused = load.Explain(one, p.program, err)
		return
	}
	depths := map[string][]int{}
	for name, program := range plain.Programs {
		depths[name] = insn.StackDepths(program.VerifierLog)
		p.verified += verifiedInsns(program.VerifierLog)
	}
	unload(plain)

	p.everyBlock.options = insn.Options{Placement: insn.EveryBlock}
	p.logging.options = insn.Options{Keys: true, Operands: true}
	for _, v := range []*variant{&p.minimal, &p.everyBlock, &p.logging} {
		v.options.StackDepths = depths
		if v.refused = v.instrument(one.Copy()); v.refused != nil {
			continue
		}
		coll, err := c.load(v.spec)
		if err != nil {
			v.refused = load.Explain(v.spec, p.program, err)
			continue
		}
		for _, program := range coll.Programs {
			v.verified += verifiedInsns(program.VerifierLog)
		}
		unload(coll)
	}
	if p.counted() {
		c.runAll(one, p)
	}
}

// variant is a program with counters.
type variant struct {
	options  insn.Options
	spec     *ebpf.CollectionSpec
	table    *insn.Table
	refused  error
	verified int           // the verifier's work
	took     time.Duration // instrumenting it
}

func (v *variant) instrument(spec *ebpf.CollectionSpec) (err error) {
	began := time.Now()
	v.spec = spec
	v.table, err = insn.Instrument(spec, v.options)
	v.took = time.Since(began)
	return err
}

func (c *corpusTest) load(spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	spec = spec.Copy()
	if err := load.Answer(spec); err != nil {
		return nil, err
	}
	return ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats}, Cache: c.types})
}

// unload frees a collection, and gives the kernel time to do so.
func unload(coll *ebpf.Collection) {
	coll.Close()
	awaitFree()
}

// awaitFree waits until the kernel has freed closed programs. It does so in
// deferred work, which can block a CPU when it piles up there.
func awaitFree() {
	const membarrierGlobal = 1
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0)
	time.Sleep(time.Millisecond)
}

var processedLine = regexp.MustCompile(`^processed (\d+)`)

// verifiedInsns reads the verifier's work from its log, which even kernels
// write that report it in no other way.
func verifiedInsns(log string) int {
	for line := range strings.SplitSeq(log, "\n") {
		if m := processedLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

// volatileHelpers returns the helpers that programs call whose answers no input
// fixes.
func volatileHelpers(spec *ebpf.CollectionSpec) (names []string) {
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			if fn, ok := answersVary(&p.Instructions[i]); ok {
				names = append(names, fn.String())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
