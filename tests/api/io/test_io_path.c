/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Opening, looking, closing: whatever a path leads to, and however the library
 * comes to its answer - at once, where the names are at hand, in a ring or on a
 * thread - it is that of the system call.
 */
#include "tests/api/io.h"

#include <sys/socket.h>
#include <sys/un.h>

/* So often: the first time on a worker is not like the next ones. */
#define NR_TIMES 6

static char long_name[300];

static const struct way {
	const char *name;
	int flags;
} ways[] = {
	{ "file", O_RDONLY | O_NONBLOCK },
	{ "file", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC },
	{ "file", O_RDONLY },
	{ "file", O_PATH },
	{ "file", O_RDWR | O_NONBLOCK | O_CREAT | O_EXCL },
	{ "file", O_RDONLY | O_NONBLOCK | O_DIRECTORY },
	{ "file/below", O_RDONLY | O_NONBLOCK },
	{ "dir", O_RDONLY | O_NONBLOCK | O_DIRECTORY },
	{ "dir", O_RDWR | O_NONBLOCK },
	{ "dir/../file", O_RDONLY | O_NONBLOCK },
	{ "link", O_RDONLY | O_NONBLOCK },
	{ "link", O_RDONLY | O_NONBLOCK | O_NOFOLLOW },
	{ "link", O_PATH | O_NOFOLLOW },
	{ "loop", O_RDONLY | O_NONBLOCK },
	{ "dangling", O_RDONLY | O_NONBLOCK },
	{ "fifo", O_RDONLY | O_NONBLOCK },
	{ "fifo", O_WRONLY | O_NONBLOCK },
	{ "socket", O_RDONLY | O_NONBLOCK },
	{ "nowhere", O_RDONLY | O_NONBLOCK },
	{ "", O_RDONLY | O_NONBLOCK },
	{ long_name, O_RDONLY | O_NONBLOCK },
};

static const struct glance {
	const char *name;
	int flags;
} glances[] = {
	{ "file", 0 },
	{ "file", AT_SYMLINK_NOFOLLOW },
	{ "file/below", 0 },
	{ "dir", AT_SYMLINK_NOFOLLOW },
	{ "link", 0 },
	{ "link", AT_SYMLINK_NOFOLLOW },
	{ "loop", 0 },
	{ "loop", AT_SYMLINK_NOFOLLOW },
	{ "dangling", 0 },
	{ "fifo", 0 },
	{ "socket", AT_SYMLINK_NOFOLLOW },
	{ "nowhere", 0 },
	{ "", 0 },
	{ "", AT_EMPTY_PATH },
	{ long_name, 0 },
};

static void make_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%.90s", io_path("socket"));
	must(bind(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
}

static void make_names(void)
{
	close(io_file("file", "abc", 3));
	must(mkdir(io_path("dir"), 0700));
	must(symlink("file", io_path("link")));
	must(symlink("loop", io_path("loop")));
	must(symlink("nowhere", io_path("dangling")));
	must(mkfifo(io_path("fifo"), 0600));
	make_socket();
	memset(long_name, 'x', sizeof(long_name) - 1);
}

static void drop_names(void)
{
	static const char *const names[] = { "file",	 "link", "loop",
					     "dangling", "fifo", "socket" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(io_path(names[i]));
	rmdir(io_path("dir"));
}

/* Type, inode and flags of what it leads to; closes it. */
static bool is_same_file(int64_t a, int b)
{
	struct stat x, y;
	bool same;

	same = !fstat((int)a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino &&
	       x.st_mode == y.st_mode &&
	       fcntl((int)a, F_GETFD) == fcntl(b, F_GETFD) &&
	       fcntl((int)a, F_GETFL) == fcntl(b, F_GETFL);
	close((int)a);
	close(b);
	return same;
}

static bool opens_alike(struct lkdf *rt, int dir, const struct way *w)
{
	int want = openat(dir, w->name, w->flags, 0600);
	int error = want < 0 ? -errno : 0;
	int64_t got = io_call(rt, IO(.op = LKDF_IO_OPENAT, .dirfd = dir,
				     .path = w->name, .how = (uint32_t)w->flags,
				     .len = w->flags & O_CREAT ? 0600 : 0));

	if (error || got < 0)
		return got == error;
	return is_same_file(got, want);
}

static bool looks_alike(struct lkdf *rt, int dir, const struct glance *g,
			int how)
{
	struct statx want, got;
	int64_t rc;
	int error;

	memset(&want, 0, sizeof(want));
	memset(&got, 0, sizeof(got));
	how |= g->flags;
	error = statx(dir, g->name, how, STATX_BASIC_STATS, &want) ? -errno : 0;
	rc = io_call(rt, IO(.op = LKDF_IO_STATX, .dirfd = dir, .path = g->name,
			    .how = (uint32_t)how, .len = STATX_BASIC_STATS,
			    .buf = &got));
	return rc == error && got.stx_ino == want.stx_ino &&
	       got.stx_mode == want.stx_mode && got.stx_size == want.stx_size;
}

/* A file of a disk, one without, what is no file, and one twice. */
static void every_close(struct lkdf *rt, const char *how)
{
	int fd[5], i, nr_bad = 0;
	struct stat file;

	fd[0] = open(io_path("file"), O_RDWR | O_CLOEXEC);
	fd[1] = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	fd[2] = open(io_path("dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(pipe2(fd + 3, O_CLOEXEC));
	for (i = 0; i < 5; i++) {
		must(fstat(fd[i], &file));
		if (io_call(rt, IO(.op = LKDF_IO_CLOSE, .fd = fd[i])) ||
		    io_is_still(fd[i], &file))
			nr_bad++;
	}
	is(nr_bad, 0, "%s: closes, at once or not", how);
	is(io_call(rt, IO(.op = LKDF_IO_CLOSE, .fd = 1000000)), -EBADF,
	   "%s: what is not open is not closed", how);
}

/* Descriptors of what lies in our directory; other ones are the library's. */
static int nr_open(void)
{
	char at[32], to[PATH_MAX];
	size_t len = strlen(io_dir);
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++) {
		snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
		memset(to, 0, sizeof(to));
		if (readlink(at, to, sizeof(to) - 1) > 0)
			nr += !strncmp(to, io_dir, len);
	}
	return nr;
}

static void every_path(struct lkdf *rt, int dir, const char *how)
{
	const int quick = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	unsigned nr_bad = 0;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (opens_alike(rt, dir, &ways[i]))
			continue;
		printf("# open %s, flags %#o\n", ways[i].name, ways[i].flags);
		nr_bad++;
	}
	is(nr_bad, 0, "%s: opens as open(2) does", how);
	nr_bad = 0;
	for (i = 0; i < sizeof(glances) / sizeof(*glances); i++) {
		if (looks_alike(rt, dir, &glances[i], 0) &&
		    looks_alike(rt, dir, &glances[i], quick))
			continue;
		printf("# statx %s, flags %#x\n", glances[i].name,
		       (unsigned)glances[i].flags);
		nr_bad++;
	}
	is(nr_bad, 0, "%s: looks as statx(2) does", how);
}

static void one_backend(const char *options)
{
	int dir = open(io_dir, O_PATH | O_DIRECTORY | O_CLOEXEC), i;
	struct lkdf *rt = api_open(options);

	for (i = 0; i < NR_TIMES; i++) {
		every_path(rt, dir, options);
		every_close(rt, options);
	}
	is(nr_open(), 1, "%s: nothing but the directory stays open", options);
	is(io_call(rt, IO(.op = LKDF_IO_OPENAT, .dirfd = 1000000,
			  .path = "file", .how = O_NONBLOCK)),
	   -EBADF, "%s: a directory that is not open", options);
	is(lkdf_close(rt), 0, "%s: it closes", options);
	close(dir);
}

int main(void)
{
	size_t i;

	tap_start(20);
	io_begin();
	make_names();
	IO_EACH(i)
	one_backend(io_backends[i]);
	drop_names();
	io_end();
	return tap_end();
}
