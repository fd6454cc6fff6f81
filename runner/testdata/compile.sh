#!/bin/sh
# Compiles the objects of the tests, and the program that user-space hooks are in.
set -eu
cd "$(dirname "$0")"
for object in hooks replaced plugin; do
	clang-14 -O2 -g -target bpfel -Wall -Werror -fdebug-compilation-dir=. -D__TARGET_ARCH_x86 \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$object.c" -o "$object.o"
	llvm-strip-14 -g "$object.o"
done
clang-14 -O1 -target x86_64-linux-gnu -static -nostdlib -fno-pic -fno-asynchronous-unwind-tables \
	-Wall -Werror target.c -o target
llvm-strip-14 --strip-debug target
