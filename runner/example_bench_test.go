package runner_test

import (
	"fmt"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/runner"
)

// A benchmark of a program, beside the tests of the module that it belongs to:
//
//	go test -run '^$' -bench Classify -count 10 ./... | benchstat -
func ExampleBench() {
	BenchmarkClassify := func(b *testing.B) {
		runner.Need(b)
		spec, err := ebpf.LoadCollectionSpec("classify.o")
		if err != nil {
			b.Fatal(err)
		}
		coll, err := ebpf.NewCollection(spec)
		if err != nil {
			b.Fatal(err)
		}
		defer coll.Close()
		runner.Bench(b, coll.Programs["classify"], runner.Frame(make([]byte, 64)), runner.Counted(spec, "classify"))
	}
	result := testing.Benchmark(BenchmarkClassify)
	fmt.Println(result.Extra["floor-ns/op"], result.Extra["bpf-insns/op"])
}
