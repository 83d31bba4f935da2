/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each OpenBLAS of Debian that is installed, as a program would use it: loaded
 * before the runtime opens. One that is built on OpenMP has as many threads in
 * a body as the body has CPUs, a team's too, and one again behind it. One that
 * makes threads itself has a single number for the program, which is one;
 * without the runtime, or with omp=no, it is what it was. Products are right in
 * all of them.
 */
#include "tests/api/api.h"

#include <dlfcn.h>
#include <glob.h>
#include <sys/wait.h>

/*
 * Smaller matrices are multiplied by a kernel of their own on some CPUs, which
 * has one thread and does not look at their number.
 */
#define SIDE 600
#define TEAM 2
#define BY_OPENMP 2 /* openblas_get_parallel() */
#define FAILED 128
#define ROW_MAJOR 101
#define NO_TRANSPOSE 111

static struct {
	void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double f,
		      const double *a, int lda, const double *b, int ldb,
		      double g, double *c, int ldc);
	int (*nr_threads)(void);
	int (*parallel)(void);
	int (*max_threads)(void); /* of OpenMP; NULL: it is built without */
} blas;

/* Threads that the last product has made, less those that were just ending. */
static int nr_made;

/* ISO C knows no way from an object's address to a function's. */
static void find_symbol(void *lib, const char *name, void *fn)
{
	void *found = dlsym(lib, name);

	memcpy(fn, &found, sizeof(found));
	ok(found != NULL, "it has %s", name);
}

/* The product of two matrices; an OpenBLAS on OpenMP looks at the number of
 * threads in the call, and does not note it if it is one. -1: it is wrong. */
static int count_threads(void)
{
	static double a[SIDE * SIDE], c[SIDE * SIDE];
	int i, nr_wrong = 0, before = api_nr_threads();

	for (i = 0; i < SIDE * SIDE; i++)
		a[i] = 1;
	blas.dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, SIDE, SIDE, SIDE, 1,
		   a, SIDE, a, SIDE, 0, c, SIDE);
	nr_made = api_nr_threads() - before;
	for (i = 0; i < SIDE * SIDE; i++)
		nr_wrong += c[i] != SIDE;
	if (nr_wrong)
		return -1;
	return blas.max_threads && blas.max_threads() == 1 ? 1
							   : blas.nr_threads();
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	**(int **)arg = count_threads();
	return 0;
}

/* In a body of that kind. */
static int threads_in(struct lkdf *rt, uint32_t flags, uint32_t nr_cpus)
{
	struct lkdf_kind *k = NULL;
	int nr = 0, *to = &nr;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "multiply", .fn = body,
					.arg_size = sizeof(to), .flags = flags,
					.nr_cpus = nr_cpus),
			      &k));
	must(api_call(rt, k, &to));
	lkdf_kind_put(k);
	return nr;
}

static void bodies_have_their_threads(bool is_omp)
{
	struct lkdf *rt = api_open("workers=4,pin=no");

	is(threads_in(rt, 0, 0), 1, "a plain body has one thread");
	ok(nr_made <= 0, "and makes none");
	is(threads_in(rt, LKDF_TEAM, TEAM), is_omp ? TEAM : 1,
	   is_omp ? "a team of %d has as many"
		  : "a team of %d too: a number for the whole program",
	   TEAM);
	is(threads_in(rt, 0, 0), 1, "a plain body behind it has one");
	ok(nr_made <= 0, "and makes none");
	is(threads_in(rt, LKDF_TEAM, 0), is_omp ? 4 : 1,
	   is_omp ? "a team of all has four" : "a team of all has one");
	must(lkdf_close(rt));
}

static void it_can_be_left_alone(int was)
{
	struct lkdf *rt = api_open("workers=4,pin=no,omp=no");

	is(threads_in(rt, 0, 0), was, "with omp=no nobody changes that");
	must(lkdf_close(rt));
}

static void use_library(void *lib)
{
	int was;
	bool is_omp;

	find_symbol(lib, "cblas_dgemm", &blas.dgemm);
	find_symbol(lib, "openblas_get_num_threads", &blas.nr_threads);
	find_symbol(lib, "openblas_get_parallel", &blas.parallel);
	is_omp = blas.parallel() == BY_OPENMP;
	if (is_omp)
		find_symbol(lib, "omp_get_max_threads", &blas.max_threads);
	was = count_threads();
	ok(was >= 1, "on its own it has %d threads", was);
	it_can_be_left_alone(was);
	bodies_have_their_threads(is_omp);
	is(count_threads(), is_omp ? was : 1, "and the program afterwards");
}

/* A program has one OpenBLAS: here one of its own, whose exit status is the
 * number of its tests, and FAILED. */
static void use_in_child(const char *path)
{
	void *lib;
	int status = 0;
	pid_t pid = must(fork());

	if (!pid) {
		tap_start(100);
		printf("# %s\n", path);
		/* OpenBLAS 0.3.29 never has more than it could have had when
		 * it was loaded: here as many as there will be workers. */
		setenv("OMP_NUM_THREADS", "4", 1);
		status = tap_nr;
		lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
		if (ok(lib != NULL, "it is loaded"))
			use_library(lib);
		fflush(stdout);
		_exit(tap_nr - status + (tap_failed ? FAILED : 0));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status))
		tap_nr += WEXITSTATUS(status) & ~FAILED;
	tap_failed += !WIFEXITED(status) || WEXITSTATUS(status) & FAILED;
	ok(WIFEXITED(status), "it ends by itself");
}

static void use_if_there(const char *variant)
{
	glob_t found;
	char path[80], what[80];

	snprintf(path, sizeof(path), "/usr/lib/*/openblas-%s/libopenblas.so.0",
		 variant);
	snprintf(what, sizeof(what), "OpenBLAS, %s", variant);
	if (glob(path, 0, NULL, &found)) {
		snprintf(path, sizeof(path), "no libopenblas0-%s", variant);
		skip(what, path);
		return;
	}
	use_in_child(found.gl_pathv[0]);
	globfree(&found);
}

int main(void)
{
	tap_start(250);
	use_if_there("pthread");
	use_if_there("openmp");
	return tap_end();
}
