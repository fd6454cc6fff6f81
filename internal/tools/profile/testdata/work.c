// What the figures of the profiler are measured with. "work cpu TURNS" works in twelve
// functions whose shares are known, and prints its user and system time and the time that
// passed. "work sleep" sleeps at four lines, and prints how long it slept at each.
// Both begin when standard input ends or has a line.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double used(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

// Each function of a percentage has the same loop, but a copy of its own.
#define WORK(percent) \
	__attribute__((noinline, aligned(64))) static unsigned long work_##percent(unsigned long turns) \
	{ \
		unsigned long x = percent; \
		for (turns *= percent; turns; turns--) { \
			x ^= x << 13; \
			x ^= x >> 7; \
			x ^= x << 17; \
			__asm__ volatile("" : "+r"(x)); \
		} \
		return x; \
	}
#define ALL(F) F(20) F(16) F(13) F(11) F(9) F(8) F(7) F(6) F(4) F(3) F(2) F(1)
ALL(WORK)

// The C library keeps no frame pointer: the function that calls it is not seen, but its
// caller is.
__attribute__((noinline)) static void sleep_for(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

#define MS 1000000
#define SLEEP(ms, times) \
	for (int i = 0; i < times; i++) { \
		from = now(); \
		sleep_for(ms * MS); \
		slept[ms] += now() - from; \
	}

int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;
	double slept[64] = {}, cpu, from;
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	(void)getchar();
	cpu = used();
	from = now();
	if (argc > 1 && !strcmp(argv[1], "sleep")) {
		const int line = __LINE__;
		SLEEP(50, 60)
		SLEEP(12, 250)
		SLEEP(3, 3000)
		SLEEP(1, 9000)
		printf("50 %d %f\n12 %d %f\n3 %d %f\n1 %d %f\n", line + 1, slept[50], line + 2, slept[12], line + 3, slept[3], line + 4, slept[1]);
		return 0;
	}
	// In many short turns, for a machine whose speed changes.
	for (int i = 0; i < 100; i++) {
#define CALL(percent) sum += work_##percent(turns);
		ALL(CALL)
	}
	printf("%f %f\n", used() - cpu, now() - from);
	return 0;
}
