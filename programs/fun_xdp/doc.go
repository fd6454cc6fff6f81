// Package funxdp holds five XDP programs that grow feature by feature, and the
// agent that reads what they report.
//
// Each program parses Ethernet and IPv4. It aborts packets that are too short
// for that and passes all others:
//
//   - fun_xdp_basic counts the packets of each source address.
//   - fun_xdp_fizz reports Fizz when the address, as a number, is divisible by 3.
//   - fun_xdp_fizzbuzz reports Fizz for 3, Buzz for 5 and FizzBuzz for 15.
//   - fun_xdp_fibonacci_slow reports Fibonacci, in place of the above, when the
//     last octet is a Fibonacci number. It finds out by loops, which makes it
//     the regression that a benchmark has to catch.
//   - fun_xdp_fibonacci reports the same from a table.
//
// The package knows nothing about benchmarks: they measure the object file,
// fun_xdp_bpfel.o.
package funxdp

//go:generate go tool bpf2go -tags linux -cc clang-14 -strip llvm-strip-14 -target bpfel -output-stem fun_xdp -type event bpf fun_xdp.c -- -Wall -Werror
