//go:build linux

package funxdp

import "testing"

func TestClassify(t *testing.T) {
	seen := map[Event]int{}
	for source := range uint32(256) {
		seen[Classify(source)]++
	}
	// Of 0 to 255, 18 are divisible by 15, 86 by 3 and 52 by 5.
	for event, want := range map[Event]int{FizzBuzz: 18, Fizz: 86 - 18, Buzz: 52 - 18, nothing: 256 - 86 - 52 + 18} {
		if seen[event] != want {
			t.Errorf("%s: %d, want %d", event, seen[event], want)
		}
	}
}

// BenchmarkClassify does the kernel program's work in user space: 256 addresses
// per operation.
func BenchmarkClassify(b *testing.B) {
	var sink Event
	for b.Loop() {
		for source := range uint32(256) {
			sink += Classify(source)
		}
	}
	if sink == 0 {
		b.Error("nothing was classified")
	}
}
