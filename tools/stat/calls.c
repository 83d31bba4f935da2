/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/calls.h"

#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST 64u
/* The owner of a mutex of glibc is the third word of it. */
#define OWNER_OFFSET 8

enum call_what {
	WHAT_NOTHING,
	WHAT_FD, /* the first argument */
	WHAT_PROCESS, /* the same */
	WHAT_CHILD, /* the second */
	WHAT_WORD,
};

static const struct call {
	long nr;
	const char *name, *text;
	enum call_what what;
} calls[] = {
	{ SYS_read, "read", "reads", WHAT_FD },
	{ SYS_readv, "readv", "reads", WHAT_FD },
	{ SYS_pread64, "pread64", "reads", WHAT_FD },
	{ SYS_write, "write", "writes", WHAT_FD },
	{ SYS_writev, "writev", "writes", WHAT_FD },
	{ SYS_pwrite64, "pwrite64", "writes", WHAT_FD },
	{ SYS_recvfrom, "recvfrom", "receives", WHAT_FD },
	{ SYS_recvmsg, "recvmsg", "receives", WHAT_FD },
	{ SYS_sendto, "sendto", "sends", WHAT_FD },
	{ SYS_sendmsg, "sendmsg", "sends", WHAT_FD },
	{ SYS_accept, "accept", "accepts a connection", WHAT_FD },
	{ SYS_accept4, "accept4", "accepts a connection", WHAT_FD },
	{ SYS_connect, "connect", "connects", WHAT_FD },
	{ SYS_fsync, "fsync", "writes out", WHAT_FD },
	{ SYS_fdatasync, "fdatasync", "writes out", WHAT_FD },
	{ SYS_flock, "flock", "waits for the lock of a file", WHAT_FD },
	{ SYS_fcntl, "fcntl", "waits for the lock of a file", WHAT_FD },
	{ SYS_epoll_pwait, "epoll_pwait", "polls", WHAT_FD },
	{ SYS_io_uring_enter, "io_uring_enter", "waits for operations",
	  WHAT_FD },
	{ SYS_ppoll, "ppoll", "polls descriptors", WHAT_NOTHING },
	{ SYS_pselect6, "pselect6", "polls descriptors", WHAT_NOTHING },
#ifdef SYS_poll
	{ SYS_poll, "poll", "polls descriptors", WHAT_NOTHING },
	{ SYS_select, "select", "polls descriptors", WHAT_NOTHING },
	{ SYS_epoll_wait, "epoll_wait", "polls", WHAT_FD },
	{ SYS_pause, "pause", "waits for a signal", WHAT_NOTHING },
	{ SYS_vfork, "vfork", "waits for the exec or the exit of its vfork",
	  WHAT_NOTHING },
#endif
	{ SYS_rt_sigtimedwait, "rt_sigtimedwait", "waits for a signal",
	  WHAT_NOTHING },
	{ SYS_nanosleep, "nanosleep", "sleeps for a time", WHAT_NOTHING },
	{ SYS_clock_nanosleep, "clock_nanosleep", "sleeps for a time",
	  WHAT_NOTHING },
	{ SYS_wait4, "wait4", "waits for a child", WHAT_PROCESS },
	{ SYS_waitid, "waitid", "waits for a child", WHAT_CHILD },
	{ SYS_futex, "futex", "sleeps on a futex word", WHAT_WORD },
};

/* A file of the thread in /proc. 0 or -errno. */
static int read_file(int pid, uint32_t tid, const char *name, char *to,
		     size_t size)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/%s", pid, (unsigned)tid,
		 name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	errno = 0;
	n = fread(to, 1, size - 1, f);
	to[n] = '\0';
	to[strcspn(to, "\n")] = '\0';
	fclose(f);
	return n ? 0 : errno ? -errno : -ENODATA;
}

static void name_thread(int pid, uint32_t tid, char *to, size_t size)
{
	if (read_file(pid, tid, "comm", to, size))
		to[0] = '\0';
	utf8_tame(to);
}

static void tell_fd(int pid, uint64_t fd, const char *text, char *to,
		    size_t size)
{
	char path[64], target[128];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, (int)fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	utf8_tame(target);
	snprintf(to, size, "%s: descriptor %d%s%s", text, (int)fd,
		 target[0] ? ", " : "", target);
}

/* The owner of a mutex; 0: it is none of a living thread of the process. */
static uint32_t owner_of(int pid, uint32_t tid, uint64_t word)
{
	uint32_t owner = 0;
	struct iovec to = { &owner, sizeof(owner) };
	struct iovec from = { (void *)(uintptr_t)(word + OWNER_OFFSET),
			      sizeof(owner) };
	char comm[32];

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(owner) ||
	    !owner || owner == tid ||
	    read_file(pid, owner, "comm", comm, sizeof(comm)))
		return 0;
	return owner;
}

/* pthread_join() sleeps while the word is the number of a thread. */
static bool tell_join(int pid, uint32_t tid, uint64_t value, char *to,
		      size_t size)
{
	char name[32];

	if (value != (uint32_t)value || value == tid || value < 3)
		return false;
	name_thread(pid, (uint32_t)value, name, sizeof(name));
	if (name[0])
		snprintf(to, size, "waits for the end of thread %u (%s)",
			 (unsigned)value, name);
	return name[0];
}

static void tell_word(int pid, uint32_t tid, uint64_t word, char *to,
		      size_t size)
{
	uint32_t owner = owner_of(pid, tid, word);
	char name[32];

	if (!owner) {
		snprintf(to, size, "sleeps on the futex word 0x%llx",
			 (unsigned long long)word);
		return;
	}
	name_thread(pid, owner, name, sizeof(name));
	snprintf(to, size,
		 "waits for the lock 0x%llx, which thread %u (%s) "
		 "holds",
		 (unsigned long long)word, (unsigned)owner, name);
}

static void tell_call(struct call_seen *x, int pid, const char *line)
{
	unsigned long long arg[3] = { 0, 0, 0 };
	const struct call *c = calls, *end = c + sizeof(calls) / sizeof(*c);
	long nr = -1;

	if (sscanf(line, "%ld %llx %llx %llx", &nr, &arg[0], &arg[1], &arg[2]) <
	    1)
		return;
	/* A page fault, or an exception: /proc has -1 as its number. */
	if (nr < 0) {
		snprintf(x->text, sizeof(x->text),
			 "waits in the kernel outside of system calls, as in a "
			 "page fault");
		return;
	}
	while (c < end && c->nr != nr)
		c++;
	if (c == end) {
		snprintf(x->call, sizeof(x->call), "%ld", nr);
		snprintf(x->text, sizeof(x->text), "is in system call %ld", nr);
		return;
	}
	snprintf(x->call, sizeof(x->call), "%s", c->name);
	if (c->what == WHAT_FD)
		tell_fd(pid, arg[0], c->text, x->text, sizeof(x->text));
	else if (c->what == WHAT_WORD &&
		 tell_join(pid, x->thread, arg[2], x->text, sizeof(x->text)))
		return;
	else if (c->what == WHAT_WORD)
		tell_word(pid, x->thread, arg[0], x->text, sizeof(x->text));
	else if (c->what == WHAT_NOTHING || (int)arg[c->what == WHAT_CHILD] < 1)
		snprintf(x->text, sizeof(x->text), "%s", c->text);
	else
		snprintf(x->text, sizeof(x->text), "%s, process %d", c->text,
			 (int)arg[c->what == WHAT_CHILD]);
}

/* False: it runs, or it is gone. */
static bool look_at(struct call_seen *x, int pid)
{
	char line[512], *at;
	int rc = read_file(pid, x->thread, "stat", line, sizeof(line));

	at = rc ? NULL : strrchr(line, ')');
	if (!at || !at[1])
		return false;
	x->state = at[2];
	if (x->state == 'R')
		return false;
	rc = read_file(pid, x->thread, "syscall", line, sizeof(line));
	if (rc) {
		snprintf(x->text, sizeof(x->text),
			 "its system call is not told: %s", strerror(-rc));
		return true;
	}
	if (!strncmp(line, "running", 7))
		return false;
	tell_call(x, pid, line);
	return x->text[0] != '\0';
}

/* A worker that sleeps for want of work is none, nor is an idle thread of the
 * pool, which sleeps on a futex word. */
static bool has_work(const struct stats *s, uint32_t executor,
		     const struct call_seen *x)
{
	if (x->is_worker)
		return !stats_is_parked(s, executor);
	return strcmp(x->call, "futex") != 0;
}

unsigned calls_find(const struct stats *s, int pid, struct call_seen *found,
		    unsigned most)
{
	const struct lkdf_stats_block *b;
	struct call_seen *x;
	unsigned nr = 0;
	uint32_t i;

	for (i = 0; i < s->h.nr_executors && nr < most; i++) {
		b = stats_block(s, i);
		if (!b->start_seq || b->kind > LKDF_EXECUTOR_BLOCKING)
			continue;
		x = &found[nr];
		*x = (struct call_seen){
			.is_worker = b->kind == LKDF_EXECUTOR_WORKER,
			.executor = i,
			.thread = b->tid,
		};
		nr += look_at(x, pid) && has_work(s, i, x);
	}
	return nr;
}

void calls_print(const struct stats *s, int pid)
{
	struct call_seen found[MOST];
	unsigned nr = calls_find(s, pid, found, MOST), i;

	if (nr)
		printf("threads in system calls, by /proc:\n");
	for (i = 0; i < nr; i++)
		printf("  %s %u, thread %u%s: %s\n",
		       found[i].is_worker ? "worker" : "blocking",
		       (unsigned)found[i].executor, (unsigned)found[i].thread,
		       found[i].state == 'D'   ? ", uninterruptible"
		       : found[i].state == 'T' ? ", stopped"
					       : "",
		       found[i].text);
}

void calls_json(const struct stats *s, int pid, struct json *j)
{
	struct call_seen found[MOST];
	unsigned nr = calls_find(s, pid, found, MOST), i;
	char state[2] = "";

	for (i = 0; i < nr; i++) {
		state[0] = found[i].state;
		json_open_flat(j, NULL, '{');
		json_text(j, "sort",
			  found[i].is_worker ? "worker" : "blocking");
		json_int(j, "executor", found[i].executor);
		json_int(j, "thread", found[i].thread);
		json_text(j, "state", state);
		json_text_or_null(j, "call",
				  found[i].call[0] ? found[i].call : NULL);
		json_text(j, "text", found[i].text);
		json_close(j, '}');
	}
}
