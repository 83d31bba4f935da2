/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The lock is a file beside the directory that is gone afterwards: who waits
 * for it looks whether it is still the one. Only its maker can open it, so that
 * nobody else keeps root waiting.
 */
#include "probe/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 20000000
#define NR_NAPS 500
#define MAX_GONE 8

bool probe_dir_is_bpffs(const char *path)
{
	struct statfs s;

	return !statfs(path, &s) && s.f_type == BPF_FS_MAGIC;
}

/* The directory begins with a mount of ours: not a bpffs of somebody else. */
static bool is_mount_of_ours(const char *dir)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[PATH_MAX + 256], at[PATH_MAX + 64], real[PATH_MAX];
	bool is_ours = false;

	if (!realpath(dir, real))
		snprintf(real, sizeof(real), "%s", dir);
	snprintf(at, sizeof(at), " %s ", real);
	while (f && !is_ours && fgets(line, sizeof(line), f))
		is_ours = strstr(line, at) && strstr(line, " - bpf lkdf ");
	if (f)
		fclose(f);
	return is_ours;
}

void probe_dir_init(struct probe_dir *d, const char *path)
{
	d->path = path;
	d->kept = strlen(path);
	d->lock = -1;
}

/* ---- the lock ------------------------------------------------------------ */

static void lock_path(const struct probe_dir *d, char *to)
{
	size_t n = strlen(d->path);

	while (n > 1 && d->path[n - 1] == '/')
		n--;
	snprintf(to, PATH_MAX, "%.*s.lock", (int)n, d->path);
}

static bool is_still_there(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !stat(path, &there) &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* The lock; -EAGAIN: somebody else has it, or it is an old one. */
static int try_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (!rc && is_still_there(fd, path))
		return fd;
	close(fd);
	return rc && rc != -EWOULDBLOCK ? rc : -EAGAIN;
}

static void make_parents(struct probe_dir *d)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s", d->path);
	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!mkdir(path, 0755) && d->kept == strlen(d->path))
			d->kept = (size_t)(strrchr(path, '/') - path);
		*slash = '/';
	}
}

int probe_dir_lock(struct probe_dir *d, bool makes)
{
	struct timespec t = { 0, NAP_NS };
	char path[PATH_MAX];
	int i, rc = -EAGAIN, nr_gone = 0;

	lock_path(d, path);
	for (i = 0; i < NR_NAPS && rc == -EAGAIN; i++) {
		if (i)
			nanosleep(&t, NULL);
		if (makes)
			make_parents(d);
		rc = try_lock(path);
		/* Somebody has just taken away what leads to it. */
		if (rc == -ENOENT && makes && nr_gone++ < MAX_GONE)
			rc = -EAGAIN;
	}
	d->lock = rc < 0 ? -1 : rc;
	return rc == -EAGAIN ? -EBUSY : 0;
}

void probe_dir_unlock(struct probe_dir *d)
{
	char path[PATH_MAX];

	if (d->lock < 0)
		return;
	lock_path(d, path);
	unlink(path);
	close(d->lock);
	d->lock = -1;
}

/* ---- the directory ------------------------------------------------------- */

int probe_dir_make(const struct probe_dir *d)
{
	if (mkdir(d->path, PROBE_DIR_MODE) && errno != EEXIST)
		return errno == EACCES ? -EACCES : -ENOTDIR;
	if (!probe_dir_is_bpffs(d->path) &&
	    mount("lkdf", d->path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "mode=0700"))
		return -errno;
	return 0;
}

/* The mount goes, if it is ours, and then the directory. */
void probe_dir_remove(const char *path)
{
	if (is_mount_of_ours(path) && !umount2(path, 0))
		rmdir(path);
	else if (!probe_dir_is_bpffs(path))
		rmdir(path);
}

void probe_dir_undo(struct probe_dir *d)
{
	char path[PATH_MAX], *slash;

	probe_dir_remove(d->path);
	probe_dir_unlock(d);
	snprintf(path, sizeof(path), "%s", d->path);
	for (slash = strrchr(path, '/');
	     slash && (size_t)(slash - path) > d->kept;
	     slash = strrchr(path, '/')) {
		*slash = '\0';
		rmdir(path);
	}
}

static bool is_pin_of_ours(const char *name)
{
	return !strcmp(name, "head") || !strcmp(name, "slots") ||
	       !strcmp(name, "words") || !strcmp(name, "stacks") ||
	       !strcmp(name, "register") || !strcmp(name, "stop") ||
	       !strncmp(name, "link_", 5);
}

int probe_dir_unpin(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *d;
	int nr = 0;
	DIR *f;

	if (!probe_dir_is_bpffs(dir))
		return 0;
	f = opendir(dir);
	while (f && (d = readdir(f))) {
		if (!is_pin_of_ours(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		nr += !unlink(path);
	}
	if (f)
		closedir(f);
	return nr;
}
