/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Variables of a task that omp_ calls set and read, by threads, tasks and
 * regions: allocator and device; who a thread is in lines of its affinity; and
 * a pause, which no region allows.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static char line[MOST][256];

static void set_in_threads(void)
{
	omp_allocator_handle_t was = omp_get_default_allocator();
	int nr_wrong = 0, device = omp_get_default_device();

	omp_set_default_allocator(omp_large_cap_mem_alloc);
	omp_set_default_device(3);
#pragma omp parallel reduction(+ : nr_wrong)
	{
		int num = omp_get_thread_num();

		nr_wrong +=
			omp_get_default_allocator() != omp_large_cap_mem_alloc;
		nr_wrong += omp_get_default_device() != 3;
		omp_set_default_allocator(num % 2 ? omp_const_mem_alloc
						  : omp_low_lat_mem_alloc);
		omp_set_default_device(10 + num);
#pragma omp barrier
		nr_wrong +=
			omp_get_default_allocator() !=
			(num % 2 ? omp_const_mem_alloc : omp_low_lat_mem_alloc);
		nr_wrong += omp_get_default_device() != 10 + num;
#pragma omp task shared(nr_wrong) firstprivate(num)
		{
			int is_wrong = omp_get_default_device() != 10 + num;

#pragma omp atomic
			nr_wrong += is_wrong;
			omp_set_default_device(77);
		}
#pragma omp taskwait
		nr_wrong += omp_get_default_device() != 10 + num;
	}
	printf("wrong in threads: %d\n", nr_wrong);
	printf("afterwards: %d %d\n",
	       omp_get_default_allocator() == omp_large_cap_mem_alloc,
	       omp_get_default_device());
	omp_set_default_allocator(was);
	omp_set_default_device(device);
}

/* An allocator whose pool holds one block only shows which one is asked. */
static void take_from_own(void)
{
	omp_alloctrait_t traits[] = {
		{ omp_atk_pool_size, 256 },
		{ omp_atk_fallback, omp_atv_null_fb },
	};
	omp_allocator_handle_t small =
		omp_init_allocator(omp_default_mem_space, 2, traits);
	int nr_some = 0, nr_large = 0;

	if (small == omp_null_allocator)
		return;
#pragma omp parallel reduction(+ : nr_some, nr_large) num_threads(2)
	{
		void *p[5] = { NULL };
		int i;

		omp_set_default_allocator(small);
#pragma omp critical
		{
			p[0] = omp_alloc(64, omp_null_allocator);
			p[1] = omp_alloc(4096, omp_null_allocator);
			nr_some += p[0] != NULL;
			nr_large += p[1] != NULL;
#if __GNUC__ >= 12
			p[2] = omp_calloc(4, 4096, omp_null_allocator);
			p[3] = omp_aligned_alloc(64, 4096, omp_null_allocator);
			p[4] = omp_realloc(NULL, 4096, omp_null_allocator,
					   omp_null_allocator);
			nr_large += p[2] || p[3] || p[4];
#endif
			for (i = 0; i < 5; i++)
				omp_free(p[i], omp_null_allocator);
		}
	}
	printf("blocks: %d small, %d large\n", nr_some, nr_large);
	omp_destroy_allocator(small);
}

static void who_is_where(const char *format)
{
	int i, nr = 0;

#pragma omp parallel
	{
		int num = omp_get_thread_num();

		omp_capture_affinity(line[num], sizeof(line[num]), format);
#pragma omp single
		nr = omp_get_num_threads();
	}
	for (i = 0; i < nr; i++)
		printf("%s\n", line[i]);
}

static void formats(void)
{
	char text[16], all[256];
	size_t size = omp_capture_affinity(text, sizeof(text),
					   "thread %n of %N at %L, %a above");

	printf("%zu: %s\n", size, text);
	who_is_where("%n/%N level %L above %a team %t/%T %%");
	who_is_where("%{thread_num}/%{num_threads} %{nesting_level} "
		     "%{ancestor_tnum} %{team_num} %{num_teams}");
	who_is_where("[%5n] [%.5n] [%0.5n] [%1N] [%.3{nesting_level}]");
	omp_set_affinity_format("mine: %n of %N");
	who_is_where(NULL);
	who_is_where("");
	omp_capture_affinity(all, sizeof(all), "%P %i %H");
	printf("words: %d\n", strchr(all, ' ') != strrchr(all, ' '));
}

static void pauses(void)
{
	int inside = 0, all = 0;

	printf("pauses: %d %d\n",
	       omp_pause_resource(omp_pause_soft, omp_get_initial_device()),
	       omp_pause_resource_all(omp_pause_hard));
#pragma omp parallel num_threads(2)
#pragma omp master
	{
		inside = omp_pause_resource(omp_pause_soft,
					    omp_get_initial_device());
		all = omp_pause_resource_all(omp_pause_hard);
	}
	printf("inside: %d %d\n", inside, all);
	who_is_where("after: %n");
}

int main(void)
{
	set_in_threads();
	take_from_own();
	formats();
	pauses();
	return 0;
}
