/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf pages: the report as a table, as JSON and as CSV. */
#include "json.h"
#include "pages/pages.h"

#include <inttypes.h>
#include <string.h>

#define MIB 1048576.0

static bool has_unknown(const struct pages_report *r)
{
	int class;

	for (class = 0; class < NR_PAGES_CLASSES; class ++) {
		if (r->unknown[class])
			return true;
	}
	return false;
}

static bool is_empty(const struct pages_report *r, int class)
{
	int i;

	for (i = 0; i < PAGES_MAX_NODES; i++) {
		if (r->on[class][i])
			return false;
	}
	return !r->unknown[class];
}

/* class NR_PAGES_CLASSES is the sum of all. */
static uint64_t bytes_on(const struct pages_report *r, int class, int node)
{
	uint64_t sum = 0;
	int i;

	if (class < NR_PAGES_CLASSES)
		return r->on[class][node];
	for (i = 0; i < NR_PAGES_CLASSES; i++)
		sum += r->on[i][node];
	return sum;
}

static uint64_t unknown_of(const struct pages_report *r, int class)
{
	uint64_t sum = 0;
	int i;

	if (class < NR_PAGES_CLASSES)
		return r->unknown[class];
	for (i = 0; i < NR_PAGES_CLASSES; i++)
		sum += r->unknown[i];
	return sum;
}

static void print_row(const struct pages_report *r, int class)
{
	int i;

	printf("%-16s", class < NR_PAGES_CLASSES
				? pages_class_name((enum pages_class) class)
				: "Total");
	for (i = 0; !r->is_status && i < PAGES_MAX_NODES; i++) {
		if (r->is_node[i])
			printf(" %10.1f", (double)bytes_on(r, class, i) / MIB);
	}
	if (has_unknown(r))
		printf(" %10.1f", (double)unknown_of(r, class) / MIB);
	printf("\n");
}

static void print_table(const struct pages_report *r)
{
	char node[32];
	int i;

	printf("%-16s", "");
	for (i = 0; !r->is_status && i < PAGES_MAX_NODES; i++) {
		if (!r->is_node[i])
			continue;
		snprintf(node, sizeof(node), "node %d", i);
		printf(" %10s", node);
	}
	printf("%s   (MiB)\n", has_unknown(r) ? "    unknown" : "");
	for (i = 0; i < NR_PAGES_CLASSES; i++) {
		if (!is_empty(r, i))
			print_row(r, i);
	}
	print_row(r, NR_PAGES_CLASSES);
}

static void print_size(uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	unsigned i = 0;

	while (v >= 1024 && i < 4) {
		v /= 1024;
		i++;
	}
	printf(" %7.1f %-3s", v, unit[i]);
}

/* The node that has most of it; -1: none is known. */
static int main_node(const struct pages_range *g)
{
	int best = -1;
	uint32_t i;

	for (i = 0; i < g->nr_nodes; i++) {
		if (g->on[i] && (best < 0 || g->on[i] > g->on[best]))
			best = (int)i;
	}
	return best;
}

static void print_range(const struct pages_range *g)
{
	char on[16] = "?";
	int node = main_node(g);
	double share = 100;

	if (node >= 0) {
		snprintf(on, sizeof(on), "%d", node);
		share = 100.0 * (double)g->on[node] / (double)g->present;
	}
	printf("%012" PRIx64, g->addr);
	print_size(g->bytes);
	print_size(g->present);
	printf(" %4s %5.1f %%  %s\n", on, share,
	       g->name[0] ? g->name : "anonymous");
}

static size_t nr_shown(const struct pages_report *r, size_t top)
{
	size_t nr = 0;

	while (nr < r->nr_ranges && nr < top && r->range[nr].present)
		nr++;
	return nr;
}

static void print_source(const struct pages_report *r)
{
	static const struct {
		uint32_t bit;
		const char *text;
	} sources[] = {
		{ LKDF_PAGES_MOVE, "move_pages(2)" },
		{ LKDF_PAGES_NUMA_MAPS, "numa_maps" },
		{ LKDF_PAGES_OWN, "lkdf's own records" },
		{ LKDF_PAGES_KMOD, "the kernel module" },
	}, doubts[] = {
		{ LKDF_MAPPING_SAMPLED, "sampled" },
		{ LKDF_MAPPING_ESTIMATED, "partly estimated" },
		{ LKDF_MAPPING_UNCHECKED, "absent pages unchecked" },
	};
	const char *comma = "";
	size_t i;

	printf("source: ");
	if (r->is_status)
		printf("/proc/%d/status, no nodes", r->pid);
	for (i = 0; i < 4; i++) {
		if (!(r->sources & sources[i].bit))
			continue;
		printf("%s%s", comma, sources[i].text);
		comma = ", ";
	}
	if (!r->is_status && !r->sources)
		printf("none, nothing is present");
	for (i = 0; i < 3; i++) {
		if (r->flags & doubts[i].bit)
			printf("; %s", doubts[i].text);
	}
	printf("%s\n", pages_report_is_exact(r) ? "; exact" : "");
}

void pages_print_text(const struct pages_report *r, size_t top)
{
	size_t i, nr = nr_shown(r, top);

	printf("process %d %s\n", r->pid, r->command);
	print_table(r);
	if (nr)
		printf("%-12s %11s %11s %4s %7s\n", "largest", "size",
		       "present", "on", "share");
	for (i = 0; i < nr; i++)
		print_range(&r->range[i]);
	print_source(r);
}

static void json_nodes(struct json *j, const struct pages_report *r, int class)
{
	int i;

	json_open_flat(j, "bytes", '[');
	for (i = 0; i < PAGES_MAX_NODES; i++) {
		if (r->is_node[i])
			json_int(j, NULL, (int64_t)bytes_on(r, class, i));
	}
	json_close(j, ']');
	json_int(j, "unknown", (int64_t)unknown_of(r, class));
}

static void json_range(struct json *j, const struct pages_report *r,
		       const struct pages_range *g)
{
	char addr[32];
	uint32_t i;

	snprintf(addr, sizeof(addr), "0x%" PRIx64, g->addr);
	json_open_flat(j, NULL, '{');
	json_text(j, "addr", addr);
	json_int(j, "size", (int64_t)g->bytes);
	json_open_flat(j, "bytes", '[');
	for (i = 0; i < PAGES_MAX_NODES; i++) {
		if (r->is_node[i])
			json_int(j, NULL,
				 i < g->nr_nodes ? (int64_t)g->on[i] : 0);
	}
	json_close(j, ']');
	json_int(j, "absent", (int64_t)g->absent);
	json_int(j, "unknown", (int64_t)g->unknown);
	json_text(j, "class", pages_class_word(g->class));
	json_text(j, "name", g->name);
	json_close(j, '}');
}

static void json_classes(struct json *j, const struct pages_report *r)
{
	int i;

	json_open(j, "classes", '[');
	for (i = 0; i < NR_PAGES_CLASSES; i++) {
		if (is_empty(r, i))
			continue;
		json_open_flat(j, NULL, '{');
		json_text(j, "name", pages_class_word((enum pages_class)i));
		json_nodes(j, r, i);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open_flat(j, "total", '{');
	json_nodes(j, r, NR_PAGES_CLASSES);
	json_close(j, '}');
}

static void json_sources(struct json *j, const struct pages_report *r)
{
	json_open_flat(j, "sources", '[');
	if (r->sources & LKDF_PAGES_MOVE)
		json_text(j, NULL, "move_pages");
	if (r->sources & LKDF_PAGES_NUMA_MAPS)
		json_text(j, NULL, "numa_maps");
	if (r->sources & LKDF_PAGES_OWN)
		json_text(j, NULL, "own");
	if (r->sources & LKDF_PAGES_KMOD)
		json_text(j, NULL, "kmod");
	if (r->is_status)
		json_text(j, NULL, "status");
	json_close(j, ']');
	json_bool(j, "sampled", r->flags & LKDF_MAPPING_SAMPLED);
	json_bool(j, "estimated", r->flags & LKDF_MAPPING_ESTIMATED);
	json_bool(j, "unchecked", r->flags & LKDF_MAPPING_UNCHECKED);
}

void pages_print_json(const struct pages_report *r, size_t top)
{
	size_t i, nr = nr_shown(r, top);
	struct json j;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/pages/1");
	json_int(&j, "pid", r->pid);
	json_text(&j, "command", r->command);
	json_open_flat(&j, "nodes", '[');
	for (i = 0; i < PAGES_MAX_NODES; i++) {
		if (r->is_node[i])
			json_int(&j, NULL, (int64_t)i);
	}
	json_close(&j, ']');
	json_classes(&j, r);
	json_open(&j, "ranges", '[');
	for (i = 0; i < nr; i++)
		json_range(&j, r, &r->range[i]);
	json_close(&j, ']');
	json_sources(&j, r);
	json_close(&j, '}');
	printf("\n");
}

void pages_print_csv(const struct pages_report *r, size_t top, const char *sep)
{
	size_t k, nr = nr_shown(r, top);
	uint32_t i;
	int class;

	printf("kind%sname", sep);
	for (i = 0; i < PAGES_MAX_NODES; i++) {
		if (r->is_node[i])
			printf("%snode%" PRIu32, sep, i);
	}
	printf("%sunknown\n", sep);
	for (class = 0; class < NR_PAGES_CLASSES; class ++) {
		if (is_empty(r, class))
			continue;
		printf("class%s%s", sep,
		       pages_class_word((enum pages_class) class));
		for (i = 0; i < PAGES_MAX_NODES; i++) {
			if (r->is_node[i])
				printf("%s%" PRIu64, sep, r->on[class][i]);
		}
		printf("%s%" PRIu64 "\n", sep, r->unknown[class]);
	}
	for (k = 0; k < nr; k++) {
		const struct pages_range *g = &r->range[k];

		printf("range%s%" PRIx64 "+%" PRIu64, sep, g->addr, g->bytes);
		for (i = 0; i < PAGES_MAX_NODES; i++) {
			if (r->is_node[i])
				printf("%s%" PRIu64, sep,
				       i < g->nr_nodes ? g->on[i] : 0);
		}
		printf("%s%" PRIu64 "\n", sep, g->unknown);
	}
}
