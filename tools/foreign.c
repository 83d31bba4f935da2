/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- objects ------------------------------------------------------------ */

/*
 * The kernel tells the kind of an object without asking the program that serves
 * it: AT_STATX_DONT_SYNC keeps FUSE from being asked.
 */
static int look_at(int fd, struct statx *x)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, x))
		return -errno;
	return S_ISREG(x->stx_mode) ? 0 : -EBADMSG;
}

/* For reading, of an object that was opened by O_PATH and looked at. */
static int reopen(int fd)
{
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return rc < 0 ? -errno : rc;
}

/* ---- memfds ------------------------------------------------------------- */

/* All memfds lie on one file system of the kernel, which no path leads to. */
static bool is_of_memory(const struct statx *x)
{
	int fd = memfd_create("lkdf", MFD_CLOEXEC);
	struct stat st;
	bool is_same = fd >= 0 && !fstat(fd, &st) &&
		       major(st.st_dev) == x->stx_dev_major &&
		       minor(st.st_dev) == x->stx_dev_minor;

	if (fd >= 0)
		close(fd);
	return is_same;
}

int foreign_memfd(int pid, const char *number, const char *name)
{
	char path[64], link[64], want[64];
	struct statx x;
	ssize_t n;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.10s", pid, number);
	n = readlink(path, link, sizeof(link) - 1);
	/* The links of another group may not be read, though the list may. */
	if (n < 0 && (errno == EACCES || errno == EPERM))
		return -errno;
	link[n < 0 ? 0 : n] = '\0';
	snprintf(want, sizeof(want), "/memfd:%s", name);
	if (strncmp(link, want, strlen(want)) != 0)
		return -ENOENT;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* A file may have such a path. */
	if (!look_at(fd, &x) && is_of_memory(&x))
		rc = reopen(fd);
	else
		rc = -ENOENT;
	close(fd);
	return rc;
}

/* A file that is no memfd has no seals, and is not asked for anything else. */
static bool has_seals(int fd, int wanted)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & wanted) == wanted;
}

int foreign_map(int fd, uint64_t least, const uint8_t **base, uint64_t *size)
{
	struct stat st;
	void *p;

	if (!has_seals(fd, F_SEAL_SHRINK))
		return -EBADMSG;
	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < least)
		return -EBADMSG;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*base = p;
	*size = (uint64_t)st.st_size;
	return 0;
}

int foreign_text(int fd, size_t max, char **text)
{
	struct stat st;
	size_t size;

	if (!has_seals(fd, F_SEAL_SHRINK | F_SEAL_WRITE) || fstat(fd, &st) ||
	    (uint64_t)st.st_size > max)
		return -EBADMSG;
	size = (size_t)st.st_size;
	*text = calloc(1, size + 1);
	if (!*text)
		return -ENOMEM;
	if (pread(fd, *text, size, 0) == (ssize_t)size)
		return 0;
	free(*text);
	return -EBADMSG;
}

/* ---- files -------------------------------------------------------------- */

/* The kernel's number of the mount in which the object lies; -1: not told. */
static int mount_of(int fd)
{
	char path[64], line[128];
	int id = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && id < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "mnt_id: %d", &id) != 1)
			id = -1;
	if (f)
		fclose(f);
	return id;
}

/* Does a program answer for what lies there? proc(5), mountinfo. */
static bool is_served(const char *line)
{
	const char *type = strstr(line, " - ");

	return !type || !strncmp(type + 3, "fuse", 4) ||
	       !strncmp(type + 3, "autofs ", 7);
}

/* 0; -EREMOTE: it is, or the process's table does not have the mount. */
static int check_mount(int pid, int id)
{
	char path[64], *line = NULL;
	bool is_good = false;
	size_t size = 0;
	int number;
	FILE *f;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	else
		snprintf(path, sizeof(path), "/proc/self/mountinfo");
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0)
		if (sscanf(line, "%d", &number) == 1 && number == id) {
			is_good = !is_served(line);
			break;
		}
	free(line);
	if (f)
		fclose(f);
	return is_good ? 0 : -EREMOTE;
}

/* A walk along a path: nothing is looked up in what a program serves. */
struct walk {
	int pid;
	int fd; /* O_PATH: where it is */
	int mount; /* of fd, which is none of a program's */
};

static int check_step(struct walk *w)
{
	int id = mount_of(w->fd), rc = 0;

	if (id < 0 || id != w->mount)
		rc = check_mount(w->pid, id);
	w->mount = id;
	return rc;
}

/* Our own root is trusted: a chroot's is in no table. */
static int begin_walk(struct walk *w, int pid)
{
	char root[64] = "/";

	if (pid)
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
	*w = (struct walk){ .pid = pid, .mount = -1 };
	w->fd = open(root, O_PATH | O_CLOEXEC);
	if (w->fd < 0)
		return -errno;
	if (pid)
		return check_step(w);
	w->mount = mount_of(w->fd);
	return 0;
}

static int step_to(struct walk *w, const char *name)
{
	int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(w->fd);
	w->fd = fd;
	return check_step(w);
}

int foreign_file(int pid, const char *path)
{
	char copy[PATH_MAX], *name, *rest;
	struct statx x;
	struct walk w;
	int rc;

	if (path[0] != '/' || strlen(path) >= sizeof(copy))
		return -EBADMSG;
	strcpy(copy, path);
	rc = begin_walk(&w, pid);
	for (name = strtok_r(copy, "/", &rest); name && !rc;
	     name = strtok_r(NULL, "/", &rest))
		rc = strcmp(name, "..") ? step_to(&w, name) : -EBADMSG;
	if (!rc)
		rc = look_at(w.fd, &x);
	if (!rc)
		rc = reopen(w.fd);
	if (w.fd >= 0)
		close(w.fd);
	return rc;
}
