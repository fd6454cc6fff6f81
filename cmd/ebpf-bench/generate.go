package main

// The objects of the tests are compiled as those of the bundled programs are.
//go:generate clang-14 -O2 -g -target bpfel -Wall -Werror -fdebug-compilation-dir=. -idirafter /usr/include/x86_64-linux-gnu -c testdata/objects/refused.c -o testdata/objects/refused.o
//go:generate llvm-strip-14 -g testdata/objects/refused.o
