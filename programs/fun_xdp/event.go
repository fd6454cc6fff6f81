//go:build linux

package funxdp

import "fmt"

// Event is what a program reports about a packet.
type Event = bpfEvent

// The events, in the order of the C enum.
const (
	Fizz      = bpfEventFIZZ
	Buzz      = bpfEventBUZZ
	FizzBuzz  = bpfEventFIZZBUZZ
	Fibonacci = bpfEventFIBONACCI
)

func (e bpfEvent) String() string {
	switch e {
	case Fizz:
		return "Fizz"
	case Buzz:
		return "Buzz"
	case FizzBuzz:
		return "FizzBuzz"
	case Fibonacci:
		return "Fibonacci"
	}
	return fmt.Sprintf("Event(%d)", uint32(e))
}
