/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mode of a file that is there, or what the umask leaves of 0666. */
static mode_t mode_for(const struct stat *st)
{
	mode_t mask;

	if (st)
		return st->st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* A signal takes away the file that is half written; there is one at a time. */
static char half_written[PATH_MAX];

static void on_signal(int nr)
{
	if (half_written[0])
		unlink(half_written);
	signal(nr, SIG_DFL);
	raise(nr);
}

/* Where the program ignores a signal it goes on doing so. */
static void watch(int nr)
{
	struct sigaction now;

	if (!sigaction(nr, NULL, &now) && now.sa_handler == SIG_DFL)
		signal(nr, on_signal);
}

int outfile_temp(const char *path, char *to, size_t size)
{
	uint64_t bits;
	int n;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		return errno ? -errno : -EAGAIN;
	n = snprintf(to, size, "%s.%016" PRIx64 ".tmp", path, bits);
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static int open_beside(struct outfile *o, const struct stat *old)
{
	int n = outfile_temp(o->path, o->temp, sizeof(o->temp)), fd;

	if (n)
		return n;
	fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	o->f = fdopen(fd, "w");
	if (o->f && !fchmod(fd, mode_for(old)))
		return 0;
	n = -errno;
	unlink(o->temp);
	close(fd);
	return n;
}

/* The name is known to on_signal() before a signal can come. */
static int open_watched(struct outfile *o, const struct stat *old)
{
	sigset_t set, before;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	watch(SIGINT);
	watch(SIGTERM);
	rc = open_beside(o, old);
	if (!rc)
		memcpy(half_written, o->temp, sizeof(half_written));
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int outfile_open(struct outfile *o, const char *path)
{
	struct stat st;

	*o = (struct outfile){ .f = stdout };
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	if (stat(path, &st))
		return errno == ENOENT ? open_watched(o, NULL) : -errno;
	if (S_ISREG(st.st_mode) && access(path, W_OK))
		return -errno;
	if (S_ISREG(st.st_mode))
		return open_watched(o, &st);
	o->f = fopen(path, "we");
	return o->f ? 0 : -errno;
}

bool outfile_is(const char *path, FILE *in)
{
	struct stat a, b;

	return path && !fstat(fileno(in), &a) && !stat(path, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *outfile_name(const struct outfile *o)
{
	return o->path ? o->path : "standard output";
}

static int close_file(struct outfile *o)
{
	int rc = ferror(o->f) ? -EIO : 0;

	errno = 0;
	if ((o->path ? fclose(o->f) : fflush(o->f)) && errno)
		rc = -errno;
	o->f = NULL;
	return rc;
}

int outfile_commit(struct outfile *o)
{
	int rc = close_file(o);

	if (!o->temp[0])
		return rc;
	if (!rc && rename(o->temp, o->path))
		rc = -errno;
	if (rc)
		unlink(o->temp);
	half_written[0] = '\0';
	return rc;
}

void outfile_abort(struct outfile *o)
{
	close_file(o);
	if (o->temp[0])
		unlink(o->temp);
	half_written[0] = '\0';
}
