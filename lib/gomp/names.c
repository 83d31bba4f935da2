/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/names.h"

#include "gomp/elf.h"
#include "gomp/gomp.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_NAMES 1024 /* as many as a runtime has */
#define FN "._omp_fn."

struct name {
	const void *address;
	char text[NAME_ROOM];
};

/* By a hash of the address. Any thread adds, nobody takes one away. */
static _Atomic(struct name *) names[NR_NAMES];

typedef char *(*demangler)(const char *name, char *to, size_t *size,
			   int *status);

/* A program of C++ has it; NULL: the name stays as it is. */
static char *demangle_symbol(const char *symbol)
{
	void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	demangler fn = NULL;
	int status = -1;
	char *text;

	memcpy(&fn, &found, sizeof(fn));
	text = fn ? fn(symbol, NULL, NULL, &status) : NULL;
	if (!status)
		return text;
	free(text);
	return NULL;
}

/* Where arguments begin: not those of a template, nor of "(anonymous". */
static size_t size_without_arguments(const char *text)
{
	size_t i;
	int depth = 0;

	for (i = 0; text[i]; i++) {
		depth += text[i] == '<';
		depth -= text[i] == '>' && depth > 0;
		if (text[i] == '(' && !depth && i &&
		    strncmp(text + i, "(anonymous", 10) != 0 &&
		    strncmp(text + i, "()(", 3) != 0)
			break;
	}
	return i;
}

/* The function that holds it, as the source has it, in at most room bytes. */
static void put_function(char *to, size_t room, const char *symbol)
{
	char mangled[1024], *text = NULL;
	size_t size = strcspn(symbol, ".");

	if (size < sizeof(mangled) && !strncmp(symbol, "_Z", 2)) {
		snprintf(mangled, sizeof(mangled), "%.*s", (int)size, symbol);
		text = demangle_symbol(mangled);
	}
	if (text)
		snprintf(to, room, "%.*s", (int)size_without_arguments(text),
			 text);
	else
		snprintf(to, room, "%.*s", (int)size, symbol);
	free(text);
}

/* "region", or with the number that gcc has given it "region 1". */
static void put_construct(char *to, size_t room, const char *symbol,
			  const char *what)
{
	const char *number = symbol ? strstr(symbol, FN) : NULL;

	if (number)
		snprintf(to, room, "%s %ld", what,
			 strtol(number + strlen(FN), NULL, 10) + 1);
	else
		snprintf(to, room, "%s", what);
}

/* "f, region 1"; with a place in it "f, line 7, region 1". */
static void make_name(struct name *n, const struct code *c, const char *place,
		      const char *what)
{
	char rest[NAME_ROOM - 16];
	size_t room;

	snprintf(rest, sizeof(rest), ", %s%s", place, what);
	room = NAME_ROOM - strlen(rest);
	if (c->symbol)
		put_function(n->text, room, c->symbol);
	else if (c->file)
		snprintf(n->text, room, "%.24s+0x%llx", c->file,
			 (unsigned long long)c->offset);
	strcat(n->text, n->text[0] ? rest : rest + 2);
}

static void name_function(struct name *n, const char *what)
{
	char construct[24];
	struct code c;

	elf_find_code(n->address, &c);
	put_construct(construct, sizeof(construct), c.symbol, what);
	make_name(n, &c, "", construct);
}

/* A return address may be the first of another line. */
static void name_place(struct name *n)
{
	char construct[24], place[32] = "";
	unsigned line = 0;
	struct code c;

	elf_find_code((const char *)n->address - 1, &c);
	if (c.file)
		line = elf_find_line(c.lines, c.offset);
	if (line)
		snprintf(place, sizeof(place), "line %u, ", line);
	else if (c.symbol)
		snprintf(place, sizeof(place), "loop at 0x%llx, ",
			 (unsigned long long)c.offset);
	put_construct(construct, sizeof(construct), c.symbol,
		      c.symbol && strstr(c.symbol, FN) ? "region" : "loop");
	make_name(n, &c, place, construct);
}

static struct name *create_name(const void *address, const char *what)
{
	struct name *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->address = address;
	if (what)
		name_function(n, what);
	else
		name_place(n);
	return n;
}

/* The row that has it, or where it belongs; NULL: all are taken. */
static _Atomic(struct name *) *find_row(const void *address)
{
	unsigned at =
		(unsigned)((uintptr_t)address * 0x9e3779b97f4a7c15u >> 54);
	const struct name *n;
	unsigned i;

	for (i = 0; i < NR_NAMES; i++) {
		/* [gomp.name] its fields; pairs with itself. */
		n = a_load(&names[(at + i) % NR_NAMES], acquire);
		if (!n || n->address == address)
			return &names[(at + i) % NR_NAMES];
	}
	return NULL;
}

/* what: of a function that gcc has made; NULL: a loop, by a return address. */
static const char *find_name(const void *address, const char *what)
{
	struct name *n = NULL, *made = NULL;
	_Atomic(struct name *) *row;

	while ((row = find_row(address)) != NULL) {
		/* [gomp.name] as above; another thread may take the row. */
		n = a_load(row, acquire);
		if (n && n->address != address)
			continue;
		if (n)
			break;
		made = made ? made : create_name(address, what);
		/* [gomp.name] as above. */
		if (!made || a_cas(row, &n, made, acq_rel, acquire))
			return made ? made->text : what ? what : "loop";
	}
	free(made);
	return row ? n->text : what ? what : "loop";
}

const char *name_region(const void *fn)
{
	return find_name(fn, "region");
}

const char *name_task(const void *fn)
{
	return find_name(fn, "task");
}

const char *name_loop(const void *from)
{
	return find_name(from, NULL);
}
