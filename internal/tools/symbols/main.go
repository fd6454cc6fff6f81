// Command symbols compares the frames of internal/symbol with those of addr2line -i -f
// -C, at random addresses within the functions of binaries, and says how long either
// takes. It exits with 1 if fewer are equal than -least says.
package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/symbol"
)

func main() {
	count := flag.Int("n", 10_000, "addresses of each binary")
	least := flag.Float64("least", 99.5, "percentage that must be equal, or differ for the reasons that are listed")
	examples := flag.Int("examples", 1, "examples of each kind of difference")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: symbols [-n ADDRESSES] [-least PERCENT] [-examples N] [NAME=]BINARY[,UNSTRIPPED]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := false
	for _, arg := range flag.Args() {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			name, file = path.Base(arg), arg
		}
		file, symbols, ok := strings.Cut(file, ",")
		if !ok {
			symbols = file
		}
		share, err := compare(name, file, symbols, *count, *examples)
		if err != nil {
			fmt.Fprintf(os.Stderr, "symbols: error: %s: %v\n", file, err)
			os.Exit(1)
		}
		failed = failed || share < *least
	}
	if failed {
		fmt.Fprintf(os.Stderr, "symbols: error: less than %g%% are equal\n", *least)
		os.Exit(1)
	}
}

// compare looks up addresses in a file, and by addr2line in the same one with symbols:
// that of binutils 2.40 misreads what dwz has moved to another file. It prints how many
// of the addresses have equal frames, and the kinds of differences. It returns the
// percentage of addresses whose frames are equal, or differ for a known reason.
func compare(name, file, symbols string, count, examples int) (float64, error) {
	addresses, err := sample(symbols, count)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	theirs, err := addr2line("addr2line", symbols, addresses)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	// That of LLVM decides where the two differ.
	llvm, err := addr2line("llvm-addr2line", symbols, addresses)
	if err != nil {
		return 0, err
	}
	start = time.Now()
	b, err := symbol.Open(file)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	ours := make([][]symbol.Frame, len(addresses))
	for i, a := range addresses {
		ours[i] = b.Frames(a)
	}
	first := time.Since(start)
	start = time.Now()
	for _, a := range addresses {
		b.Frames(a)
	}
	again := time.Since(start)

	kinds, shown, frames, known := map[string]int{}, map[string][]string{}, 0, 0
	for i, a := range addresses {
		frames += len(ours[i])
		kind, explained := difference(ours[i], theirs[i], llvm[i])
		if explained {
			known++
		}
		kinds[kind]++
		if kind != equal && len(shown[kind]) < examples {
			shown[kind] = append(shown[kind], fmt.Sprintf("%10s%#x%s\n", "", a, firstDifference(ours[i], theirs[i])))
		}
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(len(addresses)) }
	fmt.Printf("%-16s %6.2f%% equal, %6.2f%% with known differences (%d addresses, %.2f frames each)\n",
		name, percent(kinds[equal]), percent(known), len(addresses), float64(frames)/float64(len(addresses)))
	fmt.Printf("%16s all in %v, again %v each; addr2line in %v\n", "",
		first.Round(time.Millisecond), again/time.Duration(len(addresses)), took.Round(time.Millisecond))
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), strings.Compare(a, b)) }) {
		if kind != equal {
			fmt.Printf("  %6d  %s\n%s", kinds[kind], kind, strings.Join(shown[kind], ""))
		}
	}
	return percent(known), nil
}

// firstDifference describes the first frame that differs.
func firstDifference(ours, theirs []symbol.Frame) string {
	text := func(frames []symbol.Frame, i int) string {
		if i >= len(frames) {
			return "nothing"
		}
		const most = 160
		if name := frames[i].Func; len(name) > most {
			frames[i].Func = name[:most/2] + "..." + name[len(name)-most/2:]
		}
		return fmt.Sprintf("%s %s:%d", frames[i].Func, frames[i].File, frames[i].Line)
	}
	for i := range max(len(ours), len(theirs)) {
		if i >= len(ours) || i >= len(theirs) || !same(ours[i], theirs[i]) {
			return fmt.Sprintf(", frame %d: %s\n%12saddr2line: %s", i, text(ours, i), "", text(theirs, i))
		}
	}
	return ""
}

func same(a, b symbol.Frame) bool { return a.Func == b.Func && a.File == b.File && a.Line == b.Line }

// sample returns random addresses within the functions of a file, always the same.
func sample(file string, count int) ([]uint64, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	var functions []elf.Symbol
	var ends []uint64 // of the functions, as if nothing were in between
	var total uint64
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Section != elf.SHN_UNDEF {
			total += s.Size
			functions, ends = append(functions, s), append(ends, total)
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("it has no functions")
	}
	random := rand.New(rand.NewPCG(1, 2))
	addresses := make([]uint64, count)
	for i := range addresses {
		at := random.Uint64N(total)
		n, _ := slices.BinarySearch(ends, at+1)
		addresses[i] = functions[n].Value + functions[n].Size - (ends[n] - at)
	}
	return addresses, nil
}

var location = regexp.MustCompile(`^(.*):(\d+|\?)(?: \(discriminator \d+\))?$`)

// addr2line returns the frames that addr2line prints. With -a it also prints the
// address, which separates those of one from the next.
func addr2line(command, file string, addresses []uint64) ([][]symbol.Frame, error) {
	var in, out bytes.Buffer
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(command, "-a", "-i", "-f", "-C", "-e", file)
	cmd.Stdin, cmd.Stdout = &in, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var all [][]symbol.Frame
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i := 0; i < len(lines); {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			i++
			continue
		}
		if len(all) == 0 || i+1 == len(lines) {
			return nil, fmt.Errorf("%s printed %q", command, lines[i])
		}
		m := location.FindStringSubmatch(lines[i+1])
		if m == nil {
			return nil, fmt.Errorf("%s printed %q", command, lines[i+1])
		}
		frame := symbol.Frame{Func: lines[i], File: strings.TrimPrefix(m[1], "??")}
		if frame.Func == "??" {
			frame.Func = ""
		}
		frame.Line, _ = strconv.Atoi(m[2])
		all[len(all)-1] = append(all[len(all)-1], frame)
		i += 2
	}
	if len(all) != len(addresses) {
		return nil, fmt.Errorf("%s printed %d addresses, and not %d", command, len(all), len(addresses))
	}
	return all, nil
}

const equal = "equal"

// difference says how frames differ from those of addr2line, and whether the reason is
// known: because LLVM has the same ones, or addr2line is wrong in a way that is listed
// here.
func difference(ours, theirs, llvm []symbol.Frame) (kind string, known bool) {
	// addr2line prints an address without a frame, too.
	if len(theirs) == 1 && theirs[0] == (symbol.Frame{}) {
		theirs = nil
	}
	if slices.EqualFunc(ours, theirs, same) {
		return equal, true
	}
	if slices.EqualFunc(ours, llvm, same) {
		return "LLVM has the same frames as here", true
	}
	if len(ours) != len(theirs) {
		return "the number of frames differs", false
	}
	kind, known = equal, true
	for i, o := range ours {
		t := theirs[i]
		if o.File != t.File || o.Line != t.Line {
			switch {
			case i < len(llvm) && o.File == llvm[i].File && o.Line == llvm[i].Line:
				kind = "LLVM has the same files and lines as here"
			case len(ours) == 1 && o.File == "" && t.Line == 0 && !strings.Contains(t.File, "/"):
				kind = "there is no debug information, and addr2line takes a file from the symbols"
			default:
				return "a file or a line differs", false
			}
		}
		if o.Func == t.Func {
			continue
		}
		outermost := i == len(ours)-1
		switch {
		case i == 0 && o.Inlined && strings.HasPrefix(t.Func, ours[len(ours)-1].Func):
			kind = "addr2line names the function around an inlined one that has no linkage name"
		case outermost && i > 0 && strings.Contains(o.Func, "::"+t.Func+"("):
			kind = "addr2line leaves out the scope of a function around an inlined one"
		case outermost && strings.HasPrefix(t.Func, o.Func+" [clone"):
			kind = "addr2line names the part of a function that the compiler split off"
		case outermost && t.Func == o.Func+".abi0":
			kind = "addr2line names the symbol of an assembly function of Go"
		case i < len(llvm) && o.Func == llvm[i].Func:
			kind = "LLVM has the same names as here"
		default:
			return "a name differs", false
		}
	}
	return kind, known
}
