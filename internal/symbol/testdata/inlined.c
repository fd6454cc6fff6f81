/* Functions that are inlined in each other; the tests know their lines. */
static inline __attribute__((always_inline)) int leaf(volatile int *p)
{
	return *p * 3;
}

static inline __attribute__((always_inline)) int middle(volatile int *p)
{
	*p += 1;
	return leaf(p) ^ 5;
}

__attribute__((noinline)) int outer(volatile int *p)
{
	*p += 2;
	return middle(p) + leaf(p);
}

static __attribute__((noinline)) int hidden(volatile int *p)
{
	return outer(p) + *p;
}

void _start(void)
{
	volatile int n = 1;
	for (;;)
		n = hidden(&n);
}
