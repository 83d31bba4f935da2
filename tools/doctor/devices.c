/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf device: the devices of a process, as its runtimes tell them; without a
 * process those that a runtime would find here.
 */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "doctor/doctor.h"
#include "json.h"
#include "stat/stats.h"
#include "stat/target.h"
#include "words.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char verb[] = "device";

struct device_opts {
	struct cli_common common;
	const char *process, *options;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct device_opts, process),
	  "PID|NAME",
	  "of that process, by number or by the name of its command" },
	{ "options", 'o', CLI_TEXT, offsetof(struct device_opts, options),
	  "LIST",
	  "options of the runtime that looks (devices=\"cuda,opencl\"), as "
	  "name=value,..." },
};

const struct cli_spec device_spec = {
	.verb = verb,
	.usage = "[--json] [-v] [-p PID|NAME | --options LIST]",
	.help = "Devices, their memory and how much of it is in use, kernels "
		"and\ncopies so far. Without -p: those that a runtime with "
		"devices=\"cuda,opencl\"\nfinds on this machine. -v: "
		"properties of each. Exit status 4: there\nis none, and why.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET,
};

static int fail(enum cli_exit code, const char *what, const char *value,
		const char *try)
{
	struct cli_error e = { verb, code, NULL, try };

	return cli_fail(&e, what, value);
}

/* ---- what there is to print --------------------------------------------- */

struct printer {
	const struct device_opts *o;
	struct json json;
	unsigned nr; /* devices so far */
};

/* Name in JSON, and the counter of the launcher. */
static const struct {
	const char *key, *name;
} counters[] = {
	{ "kernels", "device.kernels" },
	{ "kernels_ns", "device.kernels_ns" },
	{ "copies_ns", "device.copies_ns" },
	{ "uploaded_bytes", "device.uploaded_bytes" },
	{ "fetched_bytes", "device.fetched_bytes" },
};
#define NR_COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* Properties of a device, for -v and JSON. */
static const struct {
	const char *key, *text;
	size_t offset;
} properties[] = {
	{ "units", "units", offsetof(struct lkdf_stats_device, units) },
	{ "warp", "threads in step", offsetof(struct lkdf_stats_device, warp) },
	{ "max_block", "threads of a block",
	  offsetof(struct lkdf_stats_device, max_block) },
	{ "block_shared", "bytes of memory of a block",
	  offsetof(struct lkdf_stats_device, block_shared) },
	{ "max_value_bytes", "bytes of parameters",
	  offsetof(struct lkdf_stats_device, max_value_bytes) },
	{ "flags", "flags", offsetof(struct lkdf_stats_device, flags) },
};
#define NR_PROPERTIES (sizeof(properties) / sizeof(properties[0]))

static uint32_t property(const struct lkdf_stats_device *d, size_t i)
{
	uint32_t v;

	memcpy(&v, (const char *)d + properties[i].offset, sizeof(v));
	return v;
}

static void print_properties(const struct lkdf_stats_device *d)
{
	size_t i;

	for (i = 0; i < NR_PROPERTIES; i++)
		if (property(d, i) && strcmp(properties[i].key, "flags"))
			printf("      %-28s %u\n", properties[i].text,
			       property(d, i));
	printf("      %-28s %s\n", "held by the program",
	       words_bytes(d->held).text);
	printf("      %-28s %s\n", "queues that keep their order",
	       d->flags & LKDF_DEVICE_ORDERED ? "yes" : "no");
	printf("      %-28s %s\n", "memory of its own",
	       d->flags & LKDF_DEVICE_HOST_MEMORY ? "no" : "yes");
}

static void print_text(struct printer *p, const struct stats *s, unsigned i,
		       const struct lkdf_stats_device *d)
{
	char node[16] = "any", used[80] = "of the host";

	if (!p->nr)
		printf("%-4s %-10s %-6s %5s %9s %21s %10s %10s %10s  %s\n", "",
		       "sort", "node", "tasks", "kernels", "memory in use",
		       "queues", "up", "down", "device");
	if (d->node >= 0)
		snprintf(node, sizeof(node), "%d", d->node);
	if (d->memory)
		snprintf(used, sizeof(used), "%s of %s",
			 words_bytes(d->used).text,
			 words_bytes(d->capacity).text);
	printf("d%-3u %-10.32s %-6s %5u %9llu %21s %10u %10s %10s  %.64s%s\n",
	       i, d->sort, node, d->tasks,
	       (unsigned long long)stats_device_counter(s, d, "device.kernels"),
	       used, d->queues,
	       words_bytes(stats_device_counter(s, d, "device.uploaded_bytes"))
		       .text,
	       words_bytes(stats_device_counter(s, d, "device.fetched_bytes"))
		       .text,
	       d->name, d->is_lost ? " (lost)" : "");
	if (p->o->common.is_verbose)
		print_properties(d);
}

static void print_json(struct printer *p, const struct stats *s, unsigned i,
		       const struct lkdf_stats_device *d)
{
	struct json *j = &p->json;
	size_t k;

	json_open_flat(j, NULL, '{');
	json_int(j, "device", i);
	json_text(j, "sort", d->sort);
	json_text(j, "name", d->name);
	json_bool(j, "lost", d->is_lost);
	json_int(j, "node", d->node);
	json_int(j, "queues", d->queues);
	json_int(j, "tasks", d->tasks);
	json_int(j, "memory", (int64_t)d->memory);
	json_int(j, "capacity", (int64_t)d->capacity);
	json_int(j, "used", (int64_t)d->used);
	json_int(j, "held", (int64_t)d->held);
	for (k = 0; k < NR_PROPERTIES; k++)
		json_int(j, properties[k].key, property(d, k));
	for (k = 0; k < NR_COUNTERS; k++)
		json_int(j, counters[k].key,
			 (int64_t)stats_device_counter(s, d, counters[k].name));
	json_close(j, '}');
}

static void print_runtime(struct printer *p, const struct stats *s)
{
	struct lkdf_stats_device d;
	unsigned i;

	for (i = 0; i < LKDF_MAX_DEVICES; i++) {
		if (!stats_device(s, i, &d))
			continue;
		if (p->o->common.is_json)
			print_json(p, s, i, &d);
		else
			print_text(p, s, i, &d);
		p->nr++;
	}
}

/* How many devices there are. */
static unsigned print_all(const struct device_opts *o, int pid,
			  const struct stats *s, unsigned nr)
{
	struct printer p = { .o = o };
	unsigned i;

	json_init(&p.json, stdout);
	if (o->common.is_json) {
		json_open(&p.json, NULL, '{');
		json_text(&p.json, "schema", "lkdf/device/1");
		if (pid)
			json_int(&p.json, "pid", pid);
		else
			json_null(&p.json, "pid");
		json_open(&p.json, "devices", '[');
	}
	for (i = 0; i < nr; i++)
		print_runtime(&p, &s[i]);
	if (o->common.is_json) {
		json_close(&p.json, ']');
		json_close(&p.json, '}');
		putchar('\n');
	}
	return p.nr;
}

static void unmap_all(struct stats *s, int nr)
{
	while (nr > 0)
		stats_unmap(&s[--nr]);
}

/* ---- of a process, and of this machine ---------------------------------- */

static int look_at_process(const struct device_opts *o)
{
	struct stats s[STATS_MAX];
	int pid, nr, code = target_find(verb, o->process, &pid);
	char text[16];

	if (code)
		return code;
	nr = stats_find(pid, s, STATS_MAX);
	if (nr <= 0)
		return target_refuse(verb, pid, nr);
	snprintf(text, sizeof(text), "%d", pid);
	if (!print_all(o, pid, s, (unsigned)nr))
		code = fail(CLI_ABSENT, "process %s has no device", text,
			    "devices=opencl in LKDF_OPTIONS of the process, or "
			    "lkdf_place_register()");
	unmap_all(s, nr);
	return code;
}

static int look_here(const struct device_opts *o)
{
	const char *options =
		o->options ? o->options : "devices=\"cuda,opencl\"";
	struct stats s[STATS_MAX];
	char all[1024], why[512];
	struct lkdf *rt;
	int nr, code = CLI_OK, rc;

	snprintf(all, sizeof(all), "workers=1,%s", options);
	rc = lkdf_open(all, &rt);
	if (rc)
		return fail(cli_code_of(rc), "cannot open a runtime: %s",
			    lkdf_errmsg(), "lkdf device --help");
	lkdf_places(rt, LKDF_PLACE_GPU, NULL, 0);
	snprintf(why, sizeof(why), "%s", text_of_places());
	nr = stats_find(getpid(), s, STATS_MAX);
	if (!print_all(o, 0, s, nr > 0 ? (unsigned)nr : 0))
		code = fail(CLI_ABSENT, "there is no device: %s",
			    why[0] ? why : "nothing tells",
			    "lkdf doctor tells what is missing");
	else if (why[0] && o->common.is_verbose && !o->common.is_json)
		printf("note: %s\n", why);
	unmap_all(s, nr);
	lkdf_close(rt);
	return code;
}

int verb_device(int argc, char **argv)
{
	struct device_opts o = { .process = NULL };
	int code;

	if (!cli_parse(&device_spec, argc, argv, &o, &code))
		return code;
	if (o.process && o.options)
		return fail(CLI_USAGE, "-p %s and --options", o.process,
			    "one of both");
	return o.process ? look_at_process(&o) : look_here(&o);
}
