/* SPDX-License-Identifier: Apache-2.0 */
/* spin THREADS MS: THREADS busy threads until the process has used MS of CPU time; 0: for ever. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static long limit_ms;

static long used_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *spin(void *arg)
{
	while (!limit_ms || used_ms() < limit_ms)
		for (volatile int i = 0; i < 100000; i++)
			;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	limit_ms = atol(argv[2]);
	for (int i = 1; i < atoi(argv[1]); i++)
		if (pthread_create(&thread, NULL, spin, NULL) != 0)
			return 1;
	spin(NULL);
	return 0;
}
