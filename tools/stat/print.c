/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/print.h"

#include "json.h"
#include "stat/kinds.h"

#include <inttypes.h>
#include <string.h>

void stat_look(struct stat_look *l)
{
	const char *name;
	uint32_t i, j;
	unsigned r;

	l->nr = l->nr_stats ? l->stats[0].h.nr_counters : 0;
	for (i = 0; i < l->nr; i++) {
		name = stats_counter_name(&l->stats[0], i);
		l->value[i] = stats_sum(&l->stats[0], i);
		for (r = 1; r < l->nr_stats; r++) {
			j = stats_counter_find(&l->stats[r], name);
			if (j < l->stats[r].h.nr_counters)
				l->value[i] += stats_sum(&l->stats[r], j);
		}
	}
}

static uint32_t nr_workers(const struct stat_look *l)
{
	uint32_t sum = 0;
	unsigned r;

	for (r = 0; r < l->nr_stats; r++)
		sum += stats_nr_workers(&l->stats[r]);
	return sum;
}

/* is_all: not of launchers only. */
static void print_executors(const struct stat_look *l, uint32_t i, bool is_all)
{
	const struct stats *s;
	char name[80];
	unsigned r;
	uint32_t e;
	uint64_t v;

	for (r = 0; r < l->nr_stats; r++) {
		s = &l->stats[r];
		for (e = 0; i < s->h.nr_counters && e <= s->h.nr_executors;
		     e++) {
			v = stats_counter(s, e, i);
			if (v && e == s->h.nr_executors)
				printf("%20" PRIu64 "    outside\n", v);
			else if (v && stats_launcher(s, e, name, sizeof(name)))
				printf("%20" PRIu64 "    %s\n", v, name);
			else if (v && is_all)
				printf("%20" PRIu64 "    executor %u\n", v, e);
		}
	}
}

static bool is_of_devices(const struct stats *s, uint32_t i)
{
	return !strncmp(stats_counter_name(s, i), "device.", 7);
}

static void print_kind(const struct stats_kind *k)
{
	printf("%20" PRIu64 "  bodies      %-20s ", k->bodies, k->name);
	if (k->timed)
		printf("%.3f s in all, %.3f us each, as %" PRIu64
		       " of them were timed\n",
		       k->ns * 1e-9, k->ns * 1e-3 / (double)k->bodies,
		       k->timed);
	else
		printf("none was timed\n");
}

/* With option kinds. */
static void print_kinds(const struct stat_look *l)
{
	struct stats_kinds kinds;
	uint32_t i;

	stats_kinds(l->stats, l->nr_stats, &kinds);
	if (kinds.nr)
		printf("bodies by kind, with those that a join ran within "
		       "them\n");
	for (i = 0; i < kinds.nr; i++)
		print_kind(&kinds.kind[i]);
	stats_kinds_free(&kinds);
}

void stat_print_text(const struct stat_look *l, bool is_verbose)
{
	const struct stats *s = l->stats;
	uint32_t i;

	printf("process %d %s: %u runtime%s, %u workers, %.3f s\n", l->pid,
	       l->command, l->nr_stats, l->nr_stats == 1 ? "" : "s",
	       nr_workers(l), l->seconds);
	for (i = 0; i < l->nr; i++) {
		if (!l->value[i] && !is_verbose)
			continue;
		printf("%20" PRIu64 "  %-11s %-20s %s\n", l->value[i],
		       stats_counter_unit(s, i), stats_counter_name(s, i),
		       stats_counter_help(s, i));
		if (is_verbose || is_of_devices(s, i))
			print_executors(l, i, is_verbose);
	}
	print_kinds(l);
}

/* Each device of one runtime. */
static void write_devices(struct json *j, const struct stats *s)
{
	struct lkdf_stats_device d;
	uint32_t i, k;

	for (i = 0; stats_device(s, i, &d); i++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "device", i);
		json_text(j, "sort", d.sort);
		json_text(j, "name", d.name);
		json_int(j, "used", (int64_t)d.used);
		json_int(j, "held", (int64_t)d.held);
		for (k = 0; k < s->h.nr_counters; k++)
			if (is_of_devices(s, k))
				json_int(j, stats_counter_name(s, k),
					 (int64_t)stats_device_counter(
						 s, &d,
						 stats_counter_name(s, k)));
		json_close(j, '}');
	}
}

static void write_kinds(struct json *j, const struct stat_look *l)
{
	struct stats_kinds kinds;
	const struct stats_kind *k;

	stats_kinds(l->stats, l->nr_stats, &kinds);
	json_bool(j, "kinds_counted", kinds.are_counted);
	json_open(j, "kinds", '[');
	for (k = kinds.kind; k < kinds.kind + kinds.nr; k++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", k->name);
		json_int(j, "bodies", (int64_t)k->bodies);
		json_fixed(j, "ns", k->ns, 0);
		json_int(j, "timed", (int64_t)k->timed);
		json_close(j, '}');
	}
	json_close(j, ']');
	stats_kinds_free(&kinds);
}

void stat_print_json(const struct stat_look *l)
{
	struct json j;
	uint32_t i;
	unsigned r;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/stat/1");
	json_int(&j, "pid", l->pid);
	json_text(&j, "command", l->command);
	json_number(&j, "seconds", l->seconds);
	json_int(&j, "runtimes", l->nr_stats);
	json_int(&j, "workers", nr_workers(l));
	json_open(&j, "counters", '{');
	for (i = 0; i < l->nr; i++)
		json_int(&j, stats_counter_name(l->stats, i),
			 (int64_t)l->value[i]);
	json_close(&j, '}');
	write_kinds(&j, l);
	json_open(&j, "devices", '[');
	for (r = 0; r < l->nr_stats; r++)
		write_devices(&j, &l->stats[r]);
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
}

void stat_print_interval(const struct stat_look *l,
			 const struct stat_look *before, const char *separator)
{
	const struct stats *s = l->stats;
	uint64_t came;
	uint32_t i;

	if (separator && !before->seconds)
		printf("seconds%sname%scame%sunit\n", separator, separator,
		       separator);
	for (i = 0; i < l->nr; i++) {
		came = l->value[i] - (i < before->nr ? before->value[i] : 0);
		if (separator && l->value[i])
			printf("%.6f%s%s%s%" PRIu64 "%s%s\n", l->seconds,
			       separator, stats_counter_name(s, i), separator,
			       came, separator, stats_counter_unit(s, i));
		else if (!separator && came)
			printf("%12.3f %20" PRIu64 "  %-11s %s\n", l->seconds,
			       came, stats_counter_unit(s, i),
			       stats_counter_name(s, i));
	}
	fflush(stdout);
}

void stat_print_csv(const struct stat_look *l, const char *separator)
{
	const struct stats *s = l->stats;
	uint32_t i;

	printf("name%svalue%sunit\n", separator, separator);
	for (i = 0; i < l->nr; i++)
		printf("%s%s%" PRIu64 "%s%s\n", stats_counter_name(s, i),
		       separator, l->value[i], separator,
		       stats_counter_unit(s, i));
}

/* Metrics have no points in their names. */
static void metric_name(char to[64], const char *name)
{
	size_t i;

	snprintf(to, 64, "lkdf_%s", name);
	for (i = 0; to[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
			    to[i]))
			to[i] = '_';
}

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}

static void put_kind_metric(const struct stat_look *l, FILE *out,
			    const struct stats_kind *k, const char *name)
{
	fprintf(out, "%s_total{pid=\"%d\",command=\"", name, l->pid);
	put_escaped(out, l->command);
	fputs("\",kind=\"", out);
	put_escaped(out, k->name);
	fputs("\"} ", out);
}

/* A sample for each kind, with option kinds. */
static void put_kind_metrics(const struct stat_look *l, FILE *out)
{
	struct stats_kinds kinds;
	uint32_t i;

	stats_kinds(l->stats, l->nr_stats, &kinds);
	if (kinds.nr)
		fputs("# TYPE lkdf_kind_bodies counter\n"
		      "# HELP lkdf_kind_bodies bodies that have begun\n",
		      out);
	for (i = 0; i < kinds.nr; i++) {
		put_kind_metric(l, out, &kinds.kind[i], "lkdf_kind_bodies");
		fprintf(out, "%" PRIu64 "\n", kinds.kind[i].bodies);
	}
	if (kinds.nr)
		fputs("# TYPE lkdf_kind_ns counter\n"
		      "# HELP lkdf_kind_ns time of bodies, by those that were "
		      "timed\n",
		      out);
	for (i = 0; i < kinds.nr; i++) {
		put_kind_metric(l, out, &kinds.kind[i], "lkdf_kind_ns");
		fprintf(out, "%.0f\n", kinds.kind[i].ns);
	}
	stats_kinds_free(&kinds);
}

void stat_print_metrics(const struct stat_look *l, FILE *out)
{
	char name[64];
	uint32_t i;

	for (i = 0; i < l->nr; i++) {
		metric_name(name, stats_counter_name(l->stats, i));
		fprintf(out, "# TYPE %s counter\n# HELP %s ", name, name);
		put_escaped(out, stats_counter_help(l->stats, i));
		fprintf(out, "\n%s_total{pid=\"%d\",command=\"", name, l->pid);
		put_escaped(out, l->command);
		fprintf(out, "\"} %" PRIu64 "\n", l->value[i]);
	}
	put_kind_metrics(l, out);
	fputs("# EOF\n", out);
}
