/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loads the programs, pins them and takes them away again: libbpf, here only.
 */
#include "probe/probe.h"

#include "probe/dir.h"

#ifdef LKDF_HAVE_BPF
#include "lkdf_probe.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NR_WORDS 4096
#define PIN_MODE 0660
#define ALL_HOOKS                                                   \
	(LKDF_PROBE_SWITCH | LKDF_PROBE_SAMPLE | LKDF_PROBE_PLACE | \
	 LKDF_PROBE_CPUS | LKDF_PROBE_WAKE | LKDF_PROBE_STACK)

struct loader {
	const struct probe_want *want;
	struct probe_got *got;
	struct lkdf_probe *skel;
	gid_t group;
	uint32_t tried; /* hooks */
	struct probe_dir dir;
	uint64_t seed; /* of the programs' hash of users */
};

static int fail(struct loader *l, int rc, const char *what)
{
	snprintf(l->got->why, sizeof(l->got->why), "%.200s: %s", what,
		 strerror(-rc));
	return rc;
}

/* The messages of libbpf are too much for a user; the errno is kept. */
static int say_nothing(enum libbpf_print_level level, const char *fmt,
		       va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

/* ---- pins ---------------------------------------------------------------- */

static int find_group(struct loader *l)
{
	const char *name = l->want->group ? l->want->group : "lkdf";
	struct group *g = getgrnam(name);
	unsigned long number;
	char *end;

	l->group = g ? g->gr_gid : 0;
	if (g || !l->want->group)
		return 0;
	number = strtoul(name, &end, 10);
	if (*name >= '0' && *name <= '9' && !*end && number < UINT32_MAX) {
		l->group = (gid_t)number;
		return 0;
	}
	snprintf(l->got->why, sizeof(l->got->why), "there is no group \"%s\"",
		 name);
	return -EINVAL;
}

static void path_of(char *to, const struct loader *l, const char *name)
{
	snprintf(to, PATH_MAX, "%s/%s", l->want->dir, name);
}

static int pin(struct loader *l, int fd, const char *name, mode_t mode)
{
	char path[PATH_MAX];

	path_of(path, l, name);
	if (bpf_obj_pin(fd, path))
		return fail(l, -errno, path);
	if (chmod(path, mode) || chown(path, 0, l->group))
		return fail(l, -errno, path);
	return 0;
}

/* ---- programs ------------------------------------------------------------ */

static void choose(struct lkdf_probe *s, uint32_t hooks)
{
	bpf_program__set_autoload(s->progs.lkdf_switch,
				  hooks & LKDF_PROBE_SWITCH);
	bpf_program__set_autoload(s->progs.lkdf_sample,
				  hooks & LKDF_PROBE_SAMPLE);
	bpf_program__set_autoload(s->progs.lkdf_moved,
				  hooks & LKDF_PROBE_PLACE);
	bpf_program__set_autoload(s->progs.lkdf_cpus, hooks & LKDF_PROBE_CPUS);
	bpf_program__set_autoload(s->progs.lkdf_waking,
				  hooks & LKDF_PROBE_WAKE);
	s->rodata->takes_stacks = hooks & LKDF_PROBE_STACK;
}

static int load_with(struct loader *l, uint32_t hooks)
{
	struct lkdf_probe *s = lkdf_probe__open();
	int rc;

	if (!s)
		return -errno;
	bpf_map__set_max_entries(s->maps.slots, l->want->nr_slots);
	bpf_map__set_max_entries(s->maps.taken, l->want->nr_slots);
	bpf_map__set_max_entries(s->maps.tids, l->want->nr_slots);
	bpf_map__set_max_entries(s->maps.words, NR_WORDS);
	s->rodata->max_user_slots = (l->want->nr_slots + 3) / 4;
	s->rodata->max_group_slots = (l->want->nr_slots + 1) / 2;
	s->rodata->seed = l->seed;
	choose(s, hooks);
	rc = lkdf_probe__load(s);
	if (rc) {
		lkdf_probe__destroy(s);
		return rc;
	}
	l->skel = s;
	l->tried = hooks;
	return 0;
}

/* Those that this kernel takes, each by itself. */
static uint32_t find_hooks(struct loader *l)
{
	uint32_t hook, found = 0;

	for (hook = 1; hook & ALL_HOOKS; hook <<= 1) {
		/* Stacks are what those before it take. */
		if (load_with(l,
			      hook == LKDF_PROBE_STACK ? found | hook : hook))
			continue;
		lkdf_probe__destroy(l->skel);
		l->skel = NULL;
		found |= hook;
	}
	return found;
}

/*
 * With as many hooks as this kernel takes: each can do without the others, but
 * counts of pages alone are no probe. A kernel that is locked down has no more.
 */
static int load(struct loader *l)
{
	int rc = load_with(l, ALL_HOOKS);
	uint32_t hooks;

	if (rc && rc != -EPERM && rc != -ENOMEM) {
		hooks = find_hooks(l);
		if (hooks & (LKDF_PROBE_SWITCH | LKDF_PROBE_SAMPLE))
			rc = load_with(l, hooks);
	}
	/* A kernel that knows something of it not, whatever it calls that. */
	if (rc == -EINVAL)
		rc = -EOPNOTSUPP;
	return rc ? fail(l, rc, "loading the programs (-v says more)") : 0;
}

static void lacks(struct loader *l, const char *hook, int rc)
{
	size_t used = strlen(l->got->missing);

	snprintf(l->got->missing + used, sizeof(l->got->missing) - used,
		 "%s%s: %s", used ? "; " : "", hook, strerror(-rc));
}

/* It goes on by its pin: to destroy it as it is would switch it off. */
static void drop(struct bpf_link *link)
{
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
}

/* Attached and pinned. */
static int attach(struct loader *l, struct bpf_program *p, const char *name)
{
	struct bpf_link *link = bpf_program__attach(p);
	int rc;

	if (!link)
		return -errno;
	rc = pin(l, bpf_link__fd(link), name, 0600);
	drop(link);
	return rc;
}

/* The event's descriptor is closed; the link has the event. */
static int sample_cpu(struct loader *l, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = l->want->hz,
		.exclude_idle = 1,
	};
	struct bpf_link *link;
	char name[32];
	int fd, rc;

	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	link = bpf_program__attach_perf_event(l->skel->progs.lkdf_sample, fd);
	if (!link) {
		rc = -errno;
		close(fd);
		return rc;
	}
	snprintf(name, sizeof(name), "link_sample_%d", cpu);
	rc = pin(l, bpf_link__fd(link), name, 0600);
	drop(link);
	return rc;
}

/* Each CPU that is there now. */
static int sample_all(struct loader *l)
{
	int nr = libbpf_num_possible_cpus(), cpu, rc = -ENODEV, bad;

	for (cpu = 0; cpu < nr; cpu++) {
		bad = sample_cpu(l, cpu);
		if (!bad) {
			l->got->nr_cpus++;
			rc = 0;
		} else if (!l->got->nr_cpus) {
			rc = bad;
		}
	}
	return rc;
}

static void try_hook(struct loader *l, uint32_t hook, const char *name, int rc)
{
	if (rc)
		lacks(l, name, rc);
	else
		l->got->hooks |= hook;
}

/* event: what the program is attached to, and the name of its pin. */
static void try_program(struct loader *l, uint32_t hook, const char *event,
			struct bpf_program *p)
{
	char pin_name[64];

	snprintf(pin_name, sizeof(pin_name), "link_%s", event);
	try_hook(l, hook, event,
		 l->tried & hook ? attach(l, p, pin_name) : -EOPNOTSUPP);
}

static int attach_all(struct loader *l)
{
	struct lkdf_probe *s = l->skel;
	int rc;

	/* Without these two slots would never come back. */
	rc = attach(l, s->progs.lkdf_exit, "link_exit");
	if (!rc)
		rc = attach(l, s->progs.lkdf_exec, "link_exec");
	if (rc)
		return fail(l, rc, "sched_process_exit");
	try_program(l, LKDF_PROBE_SWITCH, "sched_switch", s->progs.lkdf_switch);
	try_hook(l, LKDF_PROBE_SAMPLE, "cpu-clock",
		 l->tried & LKDF_PROBE_SAMPLE ? sample_all(l) : -EOPNOTSUPP);
	try_program(l, LKDF_PROBE_PLACE, "mm_migrate_pages",
		    s->progs.lkdf_moved);
	try_program(l, LKDF_PROBE_WAKE, "sched_waking", s->progs.lkdf_waking);
	try_hook(l, LKDF_PROBE_STACK, "stacks",
		 l->tried & LKDF_PROBE_STACK ? 0 : -EOPNOTSUPP);
	/* A kernel without hotplug has no such event, and needs none. */
	if (l->tried & LKDF_PROBE_CPUS &&
	    !attach(l, s->progs.lkdf_cpus, "link_cpus"))
		l->got->hooks |= LKDF_PROBE_CPUS;
	return l->got->hooks & (LKDF_PROBE_SWITCH | LKDF_PROBE_SAMPLE |
				LKDF_PROBE_PLACE)
		       ? 0
		       : fail(l, -EOPNOTSUPP, "no hook can be had");
}

/* ---- maps ---------------------------------------------------------------- */

static int fill(struct loader *l)
{
	struct lkdf_probe_head head = {
		.magic = LKDF_PROBE_MAGIC,
		.abi_major = LKDF_PROBE_ABI_MAJOR,
		.abi_minor = LKDF_PROBE_ABI_MINOR,
		.nr_slots = l->want->nr_slots,
		.nr_words = NR_WORDS,
		.sample_hz = l->want->hz,
		.hooks = l->got->hooks,
		.nr_cpus = l->got->nr_cpus,
	};
	uint32_t zero = 0;
	struct timespec t;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &t);
	head.started_ns = (uint64_t)t.tv_sec * 1000000000u;
	head.started_ns += (uint64_t)t.tv_nsec;
	head.beat_ns = head.started_ns;
	rc = bpf_map_update_elem(bpf_map__fd(l->skel->maps.head), &zero, &head,
				 0);
	return rc ? fail(l, rc, "filling the maps") : 0;
}

static int show(struct loader *l, const struct bpf_map *m, const char *name)
{
	if (bpf_map_freeze(bpf_map__fd(m)))
		return fail(l, -errno, "freezing the maps");
	return pin(l, bpf_map__fd(m), name, PIN_MODE);
}

/* head is last: who finds it finds all. */
static int show_all(struct loader *l)
{
	struct lkdf_probe *s = l->skel;
	const struct {
		const struct bpf_map *map;
		const char *name;
	} shown[] = { { s->maps.slots, "slots" },
		      { s->maps.words, "words" },
		      { s->maps.stacks, "stacks" },
		      { s->maps.head, "head" } };
	size_t i;
	int rc;

	rc = pin(l, bpf_program__fd(s->progs.lkdf_stop), "stop", 0600);
	if (!rc)
		rc = pin(l, bpf_program__fd(s->progs.lkdf_register), "register",
			 PIN_MODE);
	for (i = 0; !rc && i < sizeof(shown) / sizeof(shown[0]); i++)
		rc = show(l, shown[i].map, shown[i].name);
	if (!rc && (chown(l->want->dir, 0, l->group) ||
		    chmod(l->want->dir, PROBE_DIR_MODE)))
		rc = fail(l, -errno, l->want->dir);
	return rc;
}

/* Somebody may have been faster than we were. */
static int look_for_other(struct loader *l)
{
	struct pins p;
	int rc = pins_open(l->want->dir, &p, l->got->why, sizeof(l->got->why));

	if (!rc)
		pins_close(&p);
	if (rc == -ENOENT || rc == -EACCES)
		return 0;
	return rc ? rc : -EEXIST;
}

static int take_dir(struct loader *l)
{
	int rc = probe_dir_lock(&l->dir, true);

	if (rc)
		return fail(l, rc, "another lkdf probe is at it");
	rc = look_for_other(l);
	if (rc) {
		probe_dir_unlock(&l->dir);
		return rc;
	}
	rc = probe_dir_make(&l->dir);
	if (rc) {
		fail(l, rc,
		     rc == -EACCES || rc == -ENOTDIR ? l->want->dir
						     : "mounting a bpffs");
		probe_dir_undo(&l->dir);
	}
	return rc;
}

/* In a directory of ours. */
static int pin_all(struct loader *l)
{
	int rc;

	/* Pins without a head are of one that was killed. */
	probe_dir_unpin(l->want->dir);
	rc = attach_all(l);
	if (!rc)
		rc = fill(l);
	if (!rc)
		rc = show_all(l);
	if (rc) {
		probe_dir_unpin(l->want->dir);
		probe_dir_undo(&l->dir);
	}
	return rc;
}

int probe_load(const struct probe_want *w, struct probe_got *got)
{
	struct loader l = { .want = w, .got = got };
	int rc;

	memset(got, 0, sizeof(*got));
	probe_dir_init(&l.dir, w->dir);
	if (!w->is_verbose)
		libbpf_set_print(say_nothing);
	rc = find_group(&l);
	if (!rc && getrandom(&l.seed, sizeof(l.seed), 0) < 0)
		rc = fail(&l, -errno, "random numbers");
	if (!rc)
		rc = load(&l);
	if (rc)
		return rc;
	rc = take_dir(&l);
	if (!rc)
		rc = pin_all(&l);
	lkdf_probe__destroy(l.skel);
	probe_dir_unlock(&l.dir);
	return rc;
}

/* Readers see in the head that nobody feeds it any more. */
static void tell_end(const char *dir)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = pins_get(dir, "stop");

	if (fd < 0)
		return;
	bpf_prog_test_run_opts(fd, &opts);
	close(fd);
}

static int unload(const char *dir, char *why, size_t size)
{
	int nr;

	tell_end(dir);
	nr = probe_dir_unpin(dir);
	if (!nr && probe_dir_is_bpffs(dir) && access(dir, W_OK)) {
		snprintf(why, size, "%s: %s", dir, strerror(errno));
		return -errno;
	}
	if (!nr) {
		snprintf(why, size, "%s: the probe does not run", dir);
		return -ENOENT;
	}
	probe_dir_remove(dir);
	return 0;
}

int probe_unload(const char *dir, char *why, size_t size)
{
	struct probe_dir d;
	int rc;

	probe_dir_init(&d, dir);
	libbpf_set_print(say_nothing);
	rc = probe_dir_lock(&d, false);
	if (rc) {
		snprintf(why, size, "%s: another lkdf probe is at it: %s", dir,
			 strerror(-rc));
		return rc;
	}
	rc = unload(dir, why, size);
	probe_dir_unlock(&d);
	return rc;
}
#endif
