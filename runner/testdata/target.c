// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build ignore

// A program whose functions and static probes the tests trace. It takes no
// library, so that it runs on any kernel.

// A static probe as <sys/sdt.h> makes it.
#define PROBE(name, semaphore, arguments, ...)                                 \
	__asm__ volatile("990: nop\n"                                          \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"          \
			 ".balign 4\n"                                         \
			 ".4byte 992f-991f, 994f-993f, 3\n"                    \
			 "991: .asciz \"stapsdt\"\n"                           \
			 "992: .balign 4\n"                                    \
			 "993: .8byte 990b\n"                                  \
			 ".8byte _.stapsdt.base\n"                             \
			 ".8byte " semaphore "\n"                              \
			 ".asciz \"demo\"\n"                                   \
			 ".asciz \"" name "\"\n"                               \
			 ".asciz \"" arguments "\"\n"                          \
			 "994: .balign 4\n"                                    \
			 ".popsection\n" ::__VA_ARGS__)

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n");

volatile unsigned short demo_watched __attribute__((section(".probes")));

__attribute__((noinline)) long work(long n)
{
	volatile long memory = n + 1;

	PROBE("step", "0", "8@%0 -4@%1 8@%2", "r"(n), "n"(-7), "m"(memory));
	return memory;
}

void _start(void)
{
	long n = 0;

	for (int i = 0; i < 10; i++)
		n = work(n);
	// Only a watched program comes here.
	if (demo_watched)
		PROBE("watched", "demo_watched", "8@%0", "r"(n));
	__asm__ volatile("syscall" ::"a"(60), "D"(0));
	__builtin_unreachable();
}
