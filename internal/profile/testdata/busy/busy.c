// A program that keeps a CPU busy: in a function, or with an argument in a copy of it, as a
// just-in-time compiler makes code that is in no file.
#include <string.h>
#include <sys/mman.h>

static volatile int turns = 300 * 1000 * 1000;

__attribute__((noinline)) long spin(long n)
{
	volatile long sum = 0;

	while (n--)
		sum += n;
	return sum;
}

int main(int argc, char **argv)
{
	long (*volatile work)(long) = spin;
	void *code;

	if (argc > 1) {
		code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (code == MAP_FAILED)
			return 1;
		memcpy(code, spin, 256);
		__builtin___clear_cache(code, (char *)code + 256);
		work = code;
	}
	return work(turns) == 1;
}
