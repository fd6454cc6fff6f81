// A program whose functions keep no frame pointers: in f10, called by way of f1, or of
// libc's qsort, or of a signal, or in a thread, it works; or f10 sleeps.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define function __attribute__((noipa))

static int sleeps;
volatile unsigned long sum;

function void f10(void)
{
	if (sleeps)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	else
		for (int i = 0; i < 5000000; i++)
			sum += i;
	sum++;
}

#define CALL(f, g)                          \
	function void f(void)               \
	{                                   \
		volatile char room[48];     \
		room[3] = 1;                \
		g();                        \
		sum += room[3];             \
	}
CALL(f9, f10)
CALL(f8, f9)
CALL(f7, f8)
CALL(f6, f7)
CALL(f5, f6)
CALL(f4, f5)
CALL(f3, f4)
CALL(f2, f3)
CALL(f1, f2)

function int compare(const void *a, const void *b)
{
	f10();
	return *(const int *)a - *(const int *)b;
}

function void handle(int signal)
{
	f10();
	sum += signal;
}

function void *start(void *unused)
{
	f1();
	sum++;
	return unused;
}

function void deep(int n)
{
	volatile char room[1000];
	room[n % 1000] = 1;
	if (n > 0)
		deep(n - 1);
	else
		f10();
	sum += room[n % 1000];
}

int main(int argc, char **argv)
{
	int numbers[8] = {3, 1, 7, 4, 8, 2, 6, 5};
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		if (!strcmp(argv[1], "sort")) {
			qsort(numbers, 8, sizeof(*numbers), compare);
		} else if (!strcmp(argv[1], "signal")) {
			signal(SIGUSR1, handle);
			raise(SIGUSR1);
		} else if (!strcmp(argv[1], "thread")) {
			pthread_create(&thread, NULL, start, NULL);
			pthread_join(thread, NULL);
		} else if (!strcmp(argv[1], "deep")) {
			deep(40);
		} else {
			sleeps = !strcmp(argv[1], "sleep");
			f1();
		}
	}
	return 0;
}
