/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/vma.h"

#include "base/util.h"
#include "mem/procfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_HALF (1ull << 63)
#define NR_MIDDLE 4 /* permissions, offset, device, inode */

struct reader {
	struct vma_list *list;
	uint64_t start, end;
};

/* Hexadecimal, no sign, no 0x; NULL: not so. */
static const char *read_hex(const char *s, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*out = strtoull(s, &end, 16);
	return errno || (s[0] == '0' && s[1] == 'x') ? NULL : end;
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

int vma_parse(const char *line, struct vma *out, const char **name)
{
	const char *s;
	int i;

	s = read_hex(line, &out->start);
	if (!s || *s != '-')
		return -EBADMSG;
	s = read_hex(s + 1, &out->end);
	if (!s || out->start >= out->end)
		return -EBADMSG;
	for (i = 0; i < NR_MIDDLE; i++) {
		if (*s != ' ' || s[1] == ' ' || !s[1])
			return -EBADMSG;
		s += 1 + strcspn(s + 1, " ");
	}
	if (*s && *s != ' ')
		return -EBADMSG;
	*name = skip_blanks(s);
	return 0;
}

static void *grow_room(void *v, size_t *room, size_t need, size_t size)
{
	size_t more = *room ? *room : 64;
	void *grown;

	while (more < need)
		more *= 2;
	grown = realloc(v, more * size);
	if (grown)
		*room = more;
	return grown;
}

int vma_add(struct vma_list *list, uint64_t start, uint64_t end,
	    const char *name)
{
	size_t len = strlen(name) + 1;
	void *grown;

	if (list->nr == list->room) {
		grown = grow_room(list->v, &list->room, list->nr + 1,
				  sizeof(*list->v));
		if (!grown)
			return -ENOMEM;
		list->v = grown;
	}
	if (list->names_room - list->names_used < len) {
		grown = grow_room(list->names, &list->names_room,
				  list->names_used + len, 1);
		if (!grown)
			return -ENOMEM;
		list->names = grown;
	}
	memcpy(list->names + list->names_used, name, len);
	list->v[list->nr++] = (struct vma){ start, end, list->names_used };
	list->names_used += len;
	return 0;
}

/*
 * The kernel lists a mapping again if it changes during the read. Where a later
 * line overlaps earlier ones, the later line counts.
 */
static void replace_from(struct vma_list *list, uint64_t start)
{
	while (list->nr && list->v[list->nr - 1].start >= start)
		list->nr--;
	if (list->nr && list->v[list->nr - 1].end > start)
		list->v[list->nr - 1].end = start;
}

static int take_line(void *u, char *line)
{
	struct reader *r = u;
	const char *name;
	struct vma v;
	int rc;

	rc = vma_parse(line, &v, &name);
	if (rc)
		return rc;
	replace_from(r->list, v.start);
	if (v.start >= r->end || v.start >= KERNEL_HALF)
		return 1;
	if (v.end <= r->start)
		return 0;
	return vma_add(r->list, v.start, v.end, name);
}

int vma_read(const char *proc_root, int32_t pid, uint64_t start, uint64_t end,
	     struct vma_list *list)
{
	struct reader r = { list, start, end };

	return procfile_lines(proc_root, pid, "maps", take_line, &r);
}

void vma_fini(struct vma_list *list)
{
	free(list->v);
	free(list->names);
	*list = (struct vma_list){ 0 };
}
