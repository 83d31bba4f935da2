/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/vm/plugin/sections.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int grow(void *array, unsigned nr, size_t size)
{
	void **p = array, *bigger;

	if (nr & (nr - 1))
		return 0;
	bigger = realloc(*p, (nr ? 2 * nr : 1) * size);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	return 0;
}

/* Cut where it is too long. */
static void copy(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

static int index_of(int node)
{
	return node < 0 || node >= CONTROL_MAX_NODES ? CELLS_NO_NODE : node;
}

static int read_cell(struct section *s, const char *line)
{
	static const char *const names[] = { "data", "runtime", "body" };
	struct cell c;
	char name[16];
	int i, from, to;

	if (sscanf(line, "cell %15s %d %d %" SCNu64 " %" SCNu64, name, &from,
		   &to, &c.bytes, &c.accesses) != 5)
		return -EBADMSG;
	for (i = 0; i < CELLS_NR_CLASSES; i++)
		if (!strcmp(name, names[i]))
			s->class[i].at[index_of(from)][index_of(to)] = c;
	return 0;
}

static int read_buffer(struct section *s, const char *line)
{
	struct section_buffer b;

	if (sscanf(line, "range %47s %d %d %" SCNu64 " %" SCNu64, b.name,
		   &b.from, &b.to, &b.cell.bytes, &b.cell.accesses) != 5)
		return -EBADMSG;
	if (grow(&s->buffer, s->nr_buffers, sizeof(b)))
		return -ENOMEM;
	s->buffer[s->nr_buffers++] = b;
	return 0;
}

static int read_note(struct section *s, const char *line)
{
	if (grow(&s->note, s->nr_notes, sizeof(s->note[0])))
		return -ENOMEM;
	copy(s->note[s->nr_notes++], sizeof(s->note[0]),
	     line + strlen("note "));
	return 0;
}

static int read_in_section(struct section *s, const char *line)
{
	if (!strncmp(line, "cell ", 5))
		return read_cell(s, line);
	if (!strncmp(line, "range ", 6))
		return read_buffer(s, line);
	if (!strncmp(line, "note ", 5))
		return read_note(s, line);
	s->is_verified = sscanf(line, "verified %llu wrong %llu",
				&s->nr_verified, &s->nr_wrong) == 2;
	return s->is_verified ? 0 : -EBADMSG;
}

static int read_label(struct sections *s, const char *line)
{
	struct section *new;

	if (grow(&s->section, s->nr, sizeof(*new)))
		return -ENOMEM;
	new = &s->section[s->nr++];
	memset(new, 0, sizeof(*new));
	copy(new->label, sizeof(new->label), line + strlen("label "));
	return 0;
}

static void learn_memory(struct sections *s, int node, int nr_pages)
{
	if (node < 0 || node >= CONTROL_MAX_NODES || !nr_pages)
		return;
	s->nr_memories += !s->has_memory[node];
	s->has_memory[node] = true;
}

static int read_line(struct sections *s, const char *line)
{
	int node = -1, pages = 0;

	if (!strncmp(line, "label ", 6))
		return read_label(s, line);
	if (!strncmp(line, "refused ", 8))
		s->nr_refused++;
	else if (sscanf(line, "cpu %*d vcpu %*d node %d", &node) == 1)
		s->nr_cpus++;
	else if (sscanf(line, "memory %d %*s %*s shift %*s pages %d", &node,
			&pages) == 2)
		learn_memory(s, node, pages);
	else if (sscanf(line, "conflicts %u", &s->nr_conflicts) == 1)
		return 0;
	else if (s->nr)
		return read_in_section(&s->section[s->nr - 1], line);
	if (node >= (int)s->nr_nodes)
		s->nr_nodes = (unsigned)node + 1;
	return 0;
}

int sections_read(struct sections *s, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[320];
	int rc = 0;

	memset(s, 0, sizeof(*s));
	if (!file)
		return -errno;
	while (!rc && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		rc = read_line(s, line);
		if (rc)
			fprintf(stderr, "%s: cannot read \"%s\"\n", path, line);
	}
	fclose(file);
	return rc;
}

void sections_fini(struct sections *s)
{
	unsigned i;

	for (i = 0; i < s->nr; i++) {
		free(s->section[i].buffer);
		free(s->section[i].note);
	}
	free(s->section);
	memset(s, 0, sizeof(*s));
}

const char *section_note(const struct section *s, const char *word, unsigned i)
{
	size_t size = strlen(word);
	unsigned n;

	for (n = 0; n < s->nr_notes; n++)
		if (!strncmp(s->note[n], word, size) &&
		    s->note[n][size] == ' ' && !i--)
			return s->note[n] + size + 1;
	return NULL;
}

double section_number(const struct section *s, const char *word)
{
	const char *text = section_note(s, word, 0);

	return text ? strtod(text, NULL) : -1;
}
