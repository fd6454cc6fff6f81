#!/bin/sh
# Compiles the objects of the tests: compile.sh NAME...
set -eu
for name; do
	object=testdata/objects/$name
	clang-14 -O2 -g -target bpfel -Wall -Werror -fdebug-compilation-dir=. \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$object.c" -o "$object.o"
	llvm-strip-14 -g "$object.o"
done
