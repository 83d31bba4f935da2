/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a member of the probe's group learns of a process of another user, and
 * what it does not: no address, no key, no map but the three. And that samples
 * whose thread cannot be found are counted.
 */
#include "tests/api/api.h"
#include "tests/api/probe/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/wait.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static const volatile struct lkdf_probe_head *head;

static int wait_there(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return 0;
}

/* ---- what is learnt ------------------------------------------------------ */

/* The words of the map that are in the page of the address. -1: no map. */
static int nr_in_page(const char *name, uint64_t bytes, uintptr_t address)
{
	int fd = get_pin(name), nr = 0;
	const volatile uint64_t *p;
	uint64_t i;

	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	for (i = 0; i < bytes / sizeof(*p); i++)
		nr += p[i] >> 12 == address >> 12;
	return nr;
}

/* The slot of a worker that sleeps at a word: times and a number. */
static const struct lkdf_probe_slot *sleeper(pid_t pid)
{
	int i;

	for (i = 0; i < NR_SLOTS; i++)
		if (slots[i].tgid == (uint32_t)pid && slots[i].word)
			return &slots[i];
	return NULL;
}

static int learn_address(void)
{
	uintptr_t address = (uintptr_t)&gate;

	if (!sleeper(getppid()))
		return 1;
	if (nr_in_page("head", sizeof(*head), address) ||
	    nr_in_page("slots", NR_SLOTS * sizeof(*slots), address) ||
	    nr_in_page("words", head->nr_words * sizeof(struct lkdf_probe_word),
		       address))
		return 2;
	return lkdf_probe_show(sleeper(getppid())->word, 0) == address ? 4 : 0;
}

/* The key lies in the memfd of the runtime. */
static int learn_key(void)
{
	char path[64];
	int fd, nr = 0;

	for (fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), fd);
		nr += open(path, O_RDONLY | O_CLOEXEC) >= 0;
	}
	return nr;
}

static int learn_others(void)
{
	static const char *const map[] = { "threads", "tids", "taken",
					   "shares" };
	union bpf_attr attr;
	unsigned i;

	for (i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (get_pin(map[i]) != -ENOENT)
			return 1;
	memset(&attr, 0, sizeof(attr));
	return call_bpf(BPF_MAP_GET_NEXT_ID, &attr) == -EPERM ? 0 : 2;
}

static int as_nobody(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		_exit(fn());
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + status;
}

static void a_member_learns(void)
{
	struct lkdf_kind *k;
	char options[128];
	struct lkdf *rt;

	snprintf(options, sizeof(options), "workers=1,probe=%s/bpf,final",
		 probe_dir);
	rt = api_open(options);
	k = api_kind(rt, "waits", wait_there, 0, 0);
	pthread_mutex_lock(&gate);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	while (!sleeper(getpid()))
		api_nap_ns(1000000);
	is(as_nobody(learn_address), 0,
	   "that a thread sleeps at a word, and not where the word is");
	is(as_nobody(learn_key), 0, "nor the key of its numbers");
	is(as_nobody(learn_others), 0, "nor what lies in the other maps");
	pthread_mutex_unlock(&gate);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- samples that are missed --------------------------------------------- */

static int type_of_map(int fd)
{
	struct bpf_map_info info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? -1 : (int)info.type;
}

/* Takes this thread's storage away, where the map is one of threads. */
static bool take_storage(uint32_t id, int pidfd)
{
	union bpf_attr attr;
	bool is_done = false;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_id = id;
	fd = (int)call_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return false;
	if (type_of_map(fd) == BPF_MAP_TYPE_TASK_STORAGE) {
		memset(&attr, 0, sizeof(attr));
		attr.map_fd = (uint32_t)fd;
		attr.key = (uintptr_t)&pidfd;
		is_done = !call_bpf(BPF_MAP_DELETE_ELEM, &attr);
	}
	close(fd);
	return is_done;
}

/* A map of another probe has no storage of this thread. */
static bool lose_storage(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	bool is_done = false;
	union bpf_attr attr;
	uint32_t id = 0;

	while (!is_done) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (call_bpf(BPF_MAP_GET_NEXT_ID, &attr))
			break;
		id = attr.next_id;
		is_done = take_storage(id, pidfd);
	}
	close(pidfd);
	return is_done;
}

static volatile unsigned spun;

/* Works until the number grows; the test's watchdog ends what never does. */
static void spin_until_more(const volatile void *number, uint64_t was)
{
	while (*(const volatile uint64_t *)number == was)
		spun++;
}

static void missed_samples_are_counted(void)
{
	struct lkdf_probe_register r;

	if (!(head->hooks & LKDF_PROBE_SAMPLE)) {
		skip("missed samples", "this kernel lets nobody sample");
		return;
	}
	is(enter(&r), 0, "this thread registers");
	spin_until_more(&slots[r.slot].samples, 0);
	is(head->missed, 0, "it is sampled, and nothing is missed");
	ok(lose_storage(), "its entry is not to be had");
	spin_until_more(&head->missed, 0);
	ok(head->missed > 0, "samples of it are missed, and counted");
}

static void tests(void)
{
	int fd = get_pin("head");

	head = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (head == MAP_FAILED) {
		ok(false, "the head can be read");
		return;
	}
	a_member_learns();
	missed_samples_are_counted();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (pins_start(argv[0]))
		tests();
	else
		probe_absent("what a member learns");
	probe_end();
	return tap_end();
}
