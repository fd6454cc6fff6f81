//go:build linux

package funxdp

// Classify returns what fun_xdp_fizzbuzz reports for a packet from that
// address: an event, or 0 for none.
func Classify(source uint32) Event {
	switch {
	case source%15 == 0:
		return FizzBuzz
	case source%3 == 0:
		return Fizz
	case source%5 == 0:
		return Buzz
	}
	return bpfEventNOTHING
}
