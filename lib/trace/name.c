/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/name.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <lkdf/format.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PF_FORKNOEXEC 0x40 /* include/linux/sched.h, shown in stat(5) */

/* The facts that /proc/self/stat tells of this process. */
struct self {
	bool is_forked; /* and has not called exec since */
	int64_t started; /* CLOCK_REALTIME, seconds */
};

/* How far one has come with a name. */
struct search {
	struct self self;
	uint64_t held_since; /* start of the first file that is not ours; 0 */
};

static int64_t seconds_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec;
}

static struct self look_at_self(void)
{
	struct self s = { .is_forked = false };
	unsigned long long start = 0;
	unsigned flags = 0;
	char line[1024], *at = NULL;
	FILE *f = fopen("/proc/self/stat", "re");

	if (f) {
		at = fgets(line, sizeof(line), f);
		fclose(f);
	}
	/* Behind the name, which may hold blanks: fields 3 to 22. */
	at = at ? strrchr(line, ')') : NULL;
	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u "
			  "%*u %*d %*d %*d %*d %*d %*d %llu",
			  &flags, &start) != 2)
		return s;
	s.is_forked = flags & PF_FORKNOEXEC;
	s.started = seconds_now(CLOCK_REALTIME) - seconds_now(CLOCK_BOOTTIME) +
		    (int64_t)start / sysconf(_SC_CLK_TCK);
	return s;
}

/* Appends a number behind a point. */
static int put_number(char *to, size_t size, size_t at, bool has_point,
		      int number)
{
	return snprintf(to + at, size - at, has_point ? ".%d" : "%d", number);
}

/* Where numbers go that the pattern has no place for: before ".lkdf". */
static size_t stem_size(const char *pattern)
{
	size_t size = strlen(pattern);

	if (size > 5 && !strcmp(pattern + size - 5, ".lkdf"))
		size -= 5;
	return size;
}

static bool has_word(const char *pattern, char word)
{
	const char *at;

	for (at = strchr(pattern, '%'); at; at = strchr(at + 2, '%')) {
		if (at[1] == word)
			return true;
		if (!at[1])
			break;
	}
	return false;
}

/* Puts one character of the pattern, or a % and a letter; *i goes on. */
static int put_next(const char *pattern, size_t *i, int n, char *to,
		    size_t size)
{
	char word = pattern[*i];

	if (word != '%')
		return snprintf(to, size, "%c", pattern[(*i)++]);
	word = pattern[*i + 1];
	*i += 2;
	switch (word) {
	case 'p':
		return put_number(to, size, 0, false, (int)getpid());
	case 'n':
		return put_number(to, size, 0, false, n + 1);
	case '%':
		return snprintf(to, size, "%%");
	default:
		return err(-EINVAL,
			   "trace: file %s: %%%c: there are %%p, %%n, %%r and "
			   "%%%%",
			   pattern, word ? word : ' ');
	}
}

static int make_path(const char *pattern, int n, bool is_forked, char *to,
		     size_t size)
{
	const size_t stem = stem_size(pattern);
	const bool adds_pid = is_forked && !has_word(pattern, 'p');
	const bool adds_n = n && !has_word(pattern, 'n');
	size_t i = 0, at = 0;
	int rc;

	while (pattern[i] || i == stem) {
		if (i == stem && adds_pid)
			at += (size_t)put_number(to, size, at, true, getpid());
		if (i == stem && adds_n && at < size)
			at += (size_t)put_number(to, size, at, true, n);
		if (!pattern[i] || at >= size)
			break;
		rc = put_next(pattern, &i, n, to + at, size - at);
		if (rc < 0)
			return rc;
		at += (size_t)rc;
	}
	if (at >= size)
		return err(-ENAMETOOLONG, "trace: file name of %zu bytes", at);
	return 0;
}

int file_name_make(const char *pattern, int n, char *to, size_t size)
{
	return make_path(pattern, n, look_at_self().is_forked, to, size);
}

static uint64_t get_le(const uint8_t *p, int size)
{
	uint64_t v = 0;

	while (size)
		v = v << 8 | p[--size];
	return v;
}

/* When we were started is known in ticks and whole seconds. */
#define CLOCK_SLACK_S 2

/* Is what lies there to be kept? fd: the file, locked if that went. */
static bool is_kept(struct search *s, int fd, bool is_locked)
{
	uint8_t b[sizeof(struct lkdf_file_header)];
	uint64_t start = 0;
	struct stat st;
	bool keeps = !is_locked;

	if (pread(fd, b, sizeof(b), 0) == sizeof(b) &&
	    get_le(b, 8) == LKDF_FILE_MAGIC && !fstat(fd, &st)) {
		start = get_le(b + 32, 8);
		keeps |= get_le(b + 40, 4) == (uint64_t)getpid() &&
			 st.st_mtime + CLOCK_SLACK_S >= s->self.started;
		keeps |= s->held_since && start > s->held_since;
	}
	if (keeps && !s->held_since)
		s->held_since = start;
	return keeps;
}

/* The file there may be replaced; *fd holds its lock. Else as below. */
static int look_at(struct search *s, const char *path, int *fd)
{
	struct stat st, now;

	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : err(-errno, "trace: file %s: %s", path,
					     strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err(-EEXIST,
			   "trace: file %s is there and no regular file", path);
	if (st.st_uid != geteuid())
		return err(-EPERM, "trace: file %s belongs to user %u", path,
			   (unsigned)st.st_uid);
	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return errno == EACCES ? 0 : 1;
	if (is_kept(s, *fd, !flock(*fd, LOCK_EX | LOCK_NB)))
		return 1;
	/* Somebody may have been quicker. */
	return lstat(path, &now) || now.st_ino != st.st_ino;
}

/* 0; 1: try the next; -errno. */
static int try_name(struct search *s, const char *temp, const char *path)
{
	int fd = -1, rc = look_at(s, path, &fd);

	if (!rc && fd < 0 && linkat(AT_FDCWD, temp, AT_FDCWD, path, 0)) {
		/* A file system without links: nobody is quicker there. */
		if (errno == EEXIST)
			rc = 1;
		else if (rename(temp, path))
			rc = -errno;
	} else if (!rc && fd < 0) {
		unlink(temp);
	} else if (!rc && rename(temp, path)) {
		rc = -errno;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

int file_name_take(const char *pattern, const char *temp, char *to, size_t size)
{
	struct search s = { .self = look_at_self() };
	int n, rc = 1;

	for (n = 0; rc == 1 && n < MAX_FILES; n++) {
		rc = make_path(pattern, n, s.self.is_forked, to, size);
		if (!rc)
			rc = try_name(&s, temp, to);
	}
	if (rc == 1)
		return err(-EEXIST, "trace: file %s: %d names are taken",
			   pattern, MAX_FILES);
	return rc;
}
