/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/probe.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long call(int cmd, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

int pins_get(const char *dir, const char *name)
{
	char path[PATH_MAX];
	union bpf_attr attr;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	return (int)call(BPF_OBJ_GET, &attr);
}

/* An array of that many bytes each. 0, -EPROTO or -errno. */
static int check_map(int fd, uint32_t value_size, uint32_t *nr)
{
	struct bpf_map_info info;
	union bpf_attr attr;
	long rc;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	rc = call(BPF_OBJ_GET_INFO_BY_FD, &attr);
	if (rc < 0)
		return (int)rc;
	*nr = info.max_entries;
	return info.type == BPF_MAP_TYPE_ARRAY &&
			       info.value_size == value_size && *nr &&
			       info.map_flags & BPF_F_MMAPABLE
		       ? 0
		       : -EPROTO;
}

static int map_pin(const char *dir, const char *name, uint32_t value_size,
		   const void **at, size_t *bytes, uint32_t *nr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = pins_get(dir, name), rc;
	void *p;

	if (fd < 0)
		return fd;
	rc = check_map(fd, value_size, nr);
	if (!rc) {
		*bytes = ((size_t)value_size * *nr + page - 1) / page * page;
		p = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			rc = -errno;
		else
			*at = p;
	}
	close(fd);
	return rc;
}

static int check_head(const struct pins *p)
{
	const struct lkdf_probe_head *h = p->head;

	return h->magic == LKDF_PROBE_MAGIC &&
			       h->abi_major == LKDF_PROBE_ABI_MAJOR &&
			       h->nr_slots <= p->nr_slots &&
			       h->nr_words <= p->nr_words
		       ? 0
		       : -EPROTO;
}

/* True: left by an lkdf that was here before. */
static bool is_other_version(const struct lkdf_probe_head *h)
{
	return h && h->magic == LKDF_PROBE_MAGIC &&
	       h->abi_major != LKDF_PROBE_ABI_MAJOR;
}

static void say_why(int rc, const struct pins *p, const char *dir, char *why,
		    size_t size)
{
	if (rc == -EPROTO && is_other_version(p->head)) {
		snprintf(why, size,
			 "%s: that probe is version %u, and this lkdf's %d",
			 dir, p->head->abi_major, LKDF_PROBE_ABI_MAJOR);
		return;
	}
	switch (rc) {
	case 0:
		break;
	case -ENOENT:
		snprintf(why, size, "%s: the probe does not run", dir);
		break;
	case -EPROTO:
		snprintf(why, size, "%s: those maps are not the probe's", dir);
		break;
	default:
		snprintf(why, size, "%s: %s", dir, strerror(-rc));
	}
}

const char *pins_dir(const char *dir)
{
	const char *named = getenv("LKDF_PROBE");

	if (dir)
		return dir;
	return named && *named ? named : LKDF_PROBE_DIR;
}

int pins_open(const char *dir, struct pins *p, char *why, size_t size)
{
	const void *at[4] = { NULL, NULL, NULL, NULL };
	uint32_t nr;
	int rc;

	memset(p, 0, sizeof(*p));
	dir = pins_dir(dir);
	rc = map_pin(dir, "head", sizeof(*p->head), &at[0], &p->bytes[0], &nr);
	p->head = at[0];
	if (!rc)
		rc = map_pin(dir, "slots", sizeof(*p->slot), &at[1],
			     &p->bytes[1], &p->nr_slots);
	p->slot = at[1];
	if (!rc)
		rc = map_pin(dir, "words", sizeof(*p->word), &at[2],
			     &p->bytes[2], &p->nr_words);
	p->word = at[2];
	if (!rc)
		rc = check_head(p);
	/* Nobody needs them. */
	if (!rc && !map_pin(dir, "stacks", sizeof(*p->stack), &at[3],
			    &p->bytes[3], &p->nr_stacks))
		p->stack = at[3];
	/* A file system of its own that is not there, or no bpf(2). */
	if (rc == -EINVAL || rc == -ENOTDIR)
		rc = -ENOENT;
	say_why(rc, p, dir, why, size);
	if (rc)
		pins_close(p);
	return rc;
}

bool pins_group(const char *dir, char *to, size_t size)
{
	const struct group *g;
	struct stat s;

	if (stat(pins_dir(dir), &s) || !s.st_gid)
		return false;
	g = getgrgid(s.st_gid);
	if (g)
		snprintf(to, size, "%s", g->gr_name);
	else
		snprintf(to, size, "%u", s.st_gid);
	return true;
}

void pins_close(struct pins *p)
{
	if (p->head)
		munmap((void *)(uintptr_t)p->head, p->bytes[0]);
	if (p->slot)
		munmap((void *)(uintptr_t)p->slot, p->bytes[1]);
	if (p->word)
		munmap((void *)(uintptr_t)p->word, p->bytes[2]);
	if (p->stack)
		munmap((void *)(uintptr_t)p->stack, p->bytes[3]);
	memset(p, 0, sizeof(*p));
}

bool pins_are_live(const struct pins *p)
{
	const volatile struct lkdf_probe_head *h = p->head;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return lkdf_probe_is_live(h->hooks, h->stopped_ns, h->beat_ns,
				  (uint64_t)t.tv_sec * 1000000000u +
					  (uint64_t)t.tv_nsec);
}
