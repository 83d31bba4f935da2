/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/frames.h"

#include "probe/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_NAMES 512

struct frame_name {
	uint64_t ip;
	bool is_code;
	char text[160];
};

struct frames {
	int pid;
	uint32_t nr;
	struct frame_name name[NR_NAMES];
};

struct frames *frames_open(int pid)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (f)
		f->pid = pid;
	return f;
}

void frames_close(struct frames *f)
{
	free(f);
}

/* In memory from which code may run. */
static bool is_code(int pid, uint64_t address)
{
	uint64_t from, to;
	char line[512], rights[8];
	bool is_there = false;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	f = fopen(line, "re");
	while (f && !is_there && fgets(line, sizeof(line), f))
		is_there = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from,
				  &to, rights) == 3 &&
			   address >= from && address < to && rights[2] == 'x';
	if (f)
		fclose(f);
	return is_there;
}

static void find_name(int pid, uint64_t ip, struct frame_name *n)
{
	struct where w;

	n->is_code = is_code(pid, ip);
	if (!n->is_code)
		return;
	where_find(pid, ip, &w);
	if (w.has_symbol && w.symbol.is_inside)
		snprintf(n->text, sizeof(n->text), "%.120s", w.symbol.name);
	else
		snprintf(n->text, sizeof(n->text), "%.80s+0x%" PRIx64, w.object,
			 w.offset);
}

const char *frames_name(struct frames *f, uint64_t ip, bool is_first)
{
	struct frame_name *n;
	uint32_t i;

	/* A call may be the last of its function: what it returns to is
	 * another's then. */
	ip -= !is_first;
	for (i = 0; i < f->nr && f->name[i].ip != ip; i++)
		;
	if (i == NR_NAMES)
		i--;
	n = &f->name[i];
	if (i == f->nr || n->ip != ip) {
		memset(n, 0, sizeof(*n));
		n->ip = ip;
		find_name(f->pid, ip, n);
		f->nr = i + 1;
	}
	return n->is_code ? n->text : NULL;
}

const char *frames_text(struct frames *f, const uint64_t *ip, uint32_t nr,
			char *to, size_t size)
{
	const char *name;
	size_t used = 0;
	uint32_t i;

	to[0] = '\0';
	for (i = 0; i < nr && ip[i] && used < size; i++) {
		name = frames_name(f, ip[i], i == 0);
		if (!name)
			break;
		used += (size_t)snprintf(to + used, size - used, "%s%s",
					 i ? ", " : "", name);
	}
	return to;
}
