/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls /dev/lkdf with arguments that are mostly meant well and then broken in
 * one place: processes of three users, each with threads that share files, two
 * that churn the address space; some files are shared by all. Processes are
 * killed at random and replaced; one that does not end is a failure. Churning
 * and killing keep step with the calls: how fast a machine is does not change
 * how many calls there are for each. With KCOV it counts the places of the
 * module that were reached, with failslab the module's allocations fail now and
 * then. TAP of one test: every call did both succeed and fail. What the kernel
 * says is for the machine's judge.
 *
 * LKDF_SECONDS: how long (10); LKDF_SEED: repeats the choices; LKDF_PLACES: a
 * file for the addresses that were reached
 */
#include "fuzz.h"

#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#define NR_PROCESSES 4

/* Calls of all for each kill. */
#define KILL_CALLS 1000
#define KILL_SECONDS 20 /* without so many */

#define USER 65000 /* and the next one; others are root */
#define END_SECONDS 60 /* for a process that was killed */
static int common[NR_COMMON];

union request {
	struct lkdf_kmod_info info;
	struct lkdf_kmod_setup setup;
	struct lkdf_kmod_region region;
	struct lkdf_kmod_refresh refresh;
	struct lkdf_kmod_query query;
	unsigned char bytes[160];
	uint64_t words[20];
};

static void fill_range(struct fuzzer *f, __u64 *addr, __u64 *len)
{
	unsigned page = below(f, NR_PAGES);

	*addr = (uintptr_t)area(f) + page * PAGE;
	*len = some_pages(f, NR_PAGES - page) * PAGE;
	if (below(f, 1000) == 0) {
		*addr = (uintptr_t)f->p->areas[0] & ~((1UL << 36) - 1);
		*len = 1UL << 37;
	}
}

static uint64_t fuzz_counts[MAX_NODES];

/* A good request of the call nr. */
static void fill(struct fuzzer *f, unsigned nr, union request *req)
{
	static const unsigned sizes[NR_CALLS] = {
		sizeof(req->info),   sizeof(req->setup),   sizeof(req->region),
		sizeof(req->region), sizeof(req->refresh), sizeof(req->query)
	};

	memset(req, 0, sizeof(*req));
	req->info.size = sizes[nr];
	switch (nr) {
	case 1:
		req->setup.nr_regions = 1 + below(f, 8);
		req->setup.nr_blocks = 1 + below(f, below(f, 16) ? 500 : 20000);
		break;
	case 2:
		fill_range(f, &req->region.addr, &req->region.len);
		req->region.block_shift = 12 + below(f, 12);
		req->region.cookie = rand_r(&f->seed);
		break;
	case 3:
		req->region.id = below(f, 8);
		break;
	case 4:
		req->refresh.id = below(f, 8);
		req->refresh.flags = below(f, 2);
		req->refresh.max_blocks = below(f, 2) ? below(f, 100) : 0;
		req->refresh.resume_block = below(f, 2) ? below(f, 100) : 0;
		break;
	case 5:
		fill_range(f, &req->query.addr, &req->query.len);
		if (below(f, 2)) {
			req->query.counts_ptr = (uintptr_t)fuzz_counts;
			req->query.nr_counts = MAX_NODES;
		}
		break;
	}
}

static void call(struct fuzzer *f)
{
	struct shared *s = f->p->shared;
	unsigned nr = below(f, NR_CALLS);
	unsigned long cmd = _IOC(3, LKDF_KMOD_IOC, nr, below(f, 200));
	int fd = f->p->fds[below(f, NR_FILES)];
	union request req;
	void *arg = &req;
	int rc;

	fill(f, nr, &req);
	if (below(f, 4) == 0)
		req.words[below(f, 14)] = odd_number(f);
	if (below(f, 50) == 0)
		req.bytes[below(f, sizeof(req))] ^= 1 << below(f, 8);
	if (below(f, 100) == 0)
		arg = (void *)(uintptr_t)odd_number(f);
	if (below(f, 100) == 0)
		cmd = _IOC(3, LKDF_KMOD_IOC - below(f, 2), below(f, 256), 8);
	forget_cover(f);
	rc = ioctl(fd, cmd, arg);
	if (_IOC_NR(cmd) < NR_CALLS && _IOC_TYPE(cmd) == LKDF_KMOD_IOC)
		add(rc ? &s->failed[_IOC_NR(cmd)] : &s->ok[_IOC_NR(cmd)]);
	else
		add(&s->others);
	add(&f->p->nr_calls);
	note_cover(f);
}

/* A new file in place of one, or a mapping, or a look through one. */
static void change_files(struct fuzzer *f)
{
	unsigned i = below(f, NR_FILES);
	struct process *p = f->p;
	char *old;
	int fd;

	switch (below(f, 6)) {
	case 0:
	case 1:
		fd = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd >= 0) {
			dup2(fd, p->fds[i]);
			close(fd);
		}
		break;
	case 2:
		old = mmap(NULL, (1 + below(f, 20)) * PAGE,
			   below(f, 9) ? PROT_READ : PROT_READ | PROT_WRITE,
			   MAP_SHARED, p->fds[i], 0);
		if (old == MAP_FAILED)
			break;
		old = __atomic_exchange_n(&p->maps[i], old, __ATOMIC_SEQ_CST);
		if (old)
			munmap(old, PAGE);
		break;
	case 3:
		old = __atomic_load_n(&p->maps[i], __ATOMIC_RELAXED);
		if (old)
			mprotect(old, PAGE, 1 << below(f, 3));
		break;
	case 4:
		dup2(p->fds[below(f, NR_FILES)], p->fds[i]);
		break;
	case 5:
		poll(&(struct pollfd){ p->fds[i], POLLIN, 0 }, 1, 0);
		break;
	}
	add(&p->shared->others);
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;

	start_cover(f);
	for (;;) {
		if (below(f, 20) == 0)
			change_files(f);
		else
			call(f);
	}
	return NULL;
}

/* Memory, files and what only root may have; then the user is another. */
static void enter(struct process *p, struct fuzzer *fuzzers, unsigned uid)
{
	int i;

	for (i = 0; i < NR_AREAS; i++)
		p->areas[i] = map_memory(AREA, HUGE_SIZE);
	for (i = 0; i < NR_FUZZERS; i++)
		fuzzers[i].kcov = open("/sys/kernel/debug/kcov", O_RDWR);
	write_text("/proc/self/make-it-fail", "1");
	if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < NR_COMMON; i++)
		p->fds[i] = common[i];
	for (; i < NR_FILES; i++)
		p->fds[i] = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
}

static void run_process(struct shared *shared, unsigned seed, unsigned uid)
{
	static struct process p;
	static struct fuzzer fuzzers[NR_FUZZERS + 2];
	pthread_t thread;
	int i;

	p.shared = shared;
	enter(&p, fuzzers, uid);
	for (i = 0; i < NR_FUZZERS + 2; i++) {
		fuzzers[i].p = &p;
		fuzzers[i].seed = seed * 97 + i;
		pthread_create(&thread, NULL, i < NR_FUZZERS ? fuzz : churn,
			       &fuzzers[i]);
	}
	for (;;)
		pause();
}

/* The process nr, with fresh common files from time to time. */
static pid_t start(struct shared *shared, unsigned nr, unsigned seed)
{
	unsigned uid = nr < 2 ? 0 : USER + nr % 2;
	pid_t child;
	int fd;

	if (seed % 4 == 0) {
		fd = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			dup2(fd, common[seed / 4 % NR_COMMON]);
		close(fd);
	}
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		run_process(shared, seed, uid);
	}
	setpgid(child, child);
	return child;
}

static unsigned time_scale(void)
{
	const char *scale = getenv("LKDF_TIME_SCALE");

	return scale ? atoi(scale) : 1;
}

/* Ends a process, which must not hang in the kernel. */
static void stop(struct shared *s, pid_t child)
{
	time_t end = time(NULL) + END_SECONDS * time_scale();

	kill(-child, SIGKILL);
	while (waitpid(child, NULL, WNOHANG) == 0) {
		if (time(NULL) > end) {
			/* Who waits, and what the CPUs do: into the log. */
			write_text("/proc/sysrq-trigger", "w");
			write_text("/proc/sysrq-trigger", "l");
			ASSERT(!"a process that was killed ends");
		}
		usleep(1000);
	}
	s->killed++;
}

static unsigned long all_calls(const struct shared *s)
{
	unsigned long nr = __atomic_load_n(&s->others, __ATOMIC_RELAXED);
	int i;

	for (i = 0; i < NR_CALLS; i++)
		nr += __atomic_load_n(&s->ok[i], __ATOMIC_RELAXED) +
		      __atomic_load_n(&s->failed[i], __ATOMIC_RELAXED);
	return nr;
}

/* Until so many more were made, or none of them for long. */
static void wait_for_kill(const struct shared *s, unsigned long nr, time_t end)
{
	unsigned long start = all_calls(s);
	time_t late = time(NULL) + KILL_SECONDS;

	if (late < end)
		end = late;
	while (all_calls(s) - start < nr && time(NULL) < end)
		usleep(10000);
}

static unsigned long report(const struct shared *s)
{
	unsigned long nr = all_calls(s), places = 0;
	int i;

	for (i = 0; i < NR_CALLS; i++)
		printf("# call %d: %lu succeeded, %lu failed\n", i, s->ok[i],
		       s->failed[i]);
	for (i = 0; i < NR_SEEN; i++)
		places += s->seen[i] != 0;
	printf("# %lu calls, %lu processes killed\n", nr, s->killed);
	if (s->has_kcov)
		printf("# %lu places reached\n", places);
	return nr;
}

static void write_places(const struct shared *s)
{
	const char *path = getenv("LKDF_PLACES");
	FILE *file = path ? fopen(path, "w") : NULL;
	int i;

	for (i = 0; file && i < NR_SEEN; i++) {
		if (s->seen[i])
			fprintf(file, "%lx\n", s->seen[i]);
	}
	if (file)
		fclose(file);
}

static void set_up(void)
{
	int i;

	close(open_device());
	/* The machine's other users may open it for now. */
	chmod(LKDF_KMOD_DEVICE, 0666);
	for (i = 0; i < NR_COMMON; i++)
		common[i] = open_device();
}

static void take_down(void)
{
	int i;

	chmod(LKDF_KMOD_DEVICE, 0600);
	for (i = 0; i < NR_COMMON; i++)
		close(common[i]);
	for (i = 0; i < 3000 && read_number("/sys/module/lkdf/refcnt"); i++)
		usleep(1000);
	EXPECT_EQ(read_number("/sys/module/lkdf/refcnt"), 0);
}

TEST_LIMIT(calls_with_any_argument_are_answered, 7200)
{
	const char *text = getenv("LKDF_SECONDS");
	time_t end = time(NULL) + (text ? atoi(text) : 10);
	unsigned seed, i;
	pid_t child[NR_PROCESSES];
	struct shared *s;

	text = getenv("LKDF_SEED");
	seed = text ? strtoul(text, NULL, 0) : (unsigned)time(NULL);
	printf("# LKDF_SEED=%u\n", seed);
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT(s != MAP_FAILED);
	set_up();
	for (i = 0; i < NR_PROCESSES; i++)
		child[i] = start(s, i, seed + i);
	while (time(NULL) < end) {
		wait_for_kill(s, rand_r(&seed) % (2 * KILL_CALLS), end);
		i = rand_r(&seed) % NR_PROCESSES;
		stop(s, child[i]);
		child[i] = start(s, i, rand_r(&seed));
	}
	for (i = 0; i < NR_PROCESSES; i++)
		stop(s, child[i]);
	EXPECT(report(s) > 0);
	write_places(s);
	for (i = 0; i < NR_CALLS; i++) {
		EXPECT(s->ok[i] > 0);
		EXPECT(s->failed[i] > 0);
	}
	take_down();
}
