/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reads the instructions of an entry of PTX. */
#include "tests/cuda/fake/ptx_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%' ||
	       c == '$' || c == '@' || c == '!' || c == '-';
}

/* The next word, or one character that is none; "" at the end of the text. */
void ptx_word(struct ptx_reader *r, char word[MAX_WORD])
{
	size_t n = 0;

	for (;;) {
		while (isspace((unsigned char)*r->at))
			r->at++;
		if (strncmp(r->at, "//", 2))
			break;
		r->at += strcspn(r->at, "\n");
	}
	while (is_letter(r->at[n]) && n < MAX_WORD - 1)
		n++;
	n = n || !*r->at ? n : 1;
	memcpy(word, r->at, n);
	word[n] = 0;
	r->at += n;
}

bool ptx_next_is(struct ptx_reader *r, const char *want)
{
	const char *before = r->at;
	char word[MAX_WORD];

	ptx_word(r, word);
	if (!strcmp(word, want))
		return true;
	r->at = before;
	return false;
}

/* The bytes of the type that the word ends with: .u32, ld.param.u64; 0: none.
 */
unsigned ptx_type_size(const char *word)
{
	const char *dot = strrchr(word, '.');
	int bits = dot && strchr("usbf", dot[1]) ? atoi(dot + 2) : 0;

	return bits > 0 && bits <= 64 && !(bits & 7) ? (unsigned)bits / 8 : 0;
}

static unsigned find_register(struct ptx_reader *r, const char *name)
{
	unsigned i = 0;

	while (i < MAX_REGISTERS - 1 && r->registers[i][0] &&
	       strcmp(r->registers[i], name))
		i++;
	memcpy(r->registers[i], name, strlen(name) + 1);
	if (r->code->nr_registers <= i)
		r->code->nr_registers = i + 1;
	return i;
}

/* ---- operands ----------------------------------------------------------- */

static const struct special {
	const char *name;
	enum ptx_kind kind;
} specials[] = {
	{ "%tid.", PTX_THREAD },
	{ "%ctaid.", PTX_BLOCK },
	{ "%ntid.", PTX_BLOCK_SIZE },
	{ "%nctaid.", PTX_GRID },
};

static bool read_special(const char *word, struct ptx_operand *o)
{
	size_t i, n;

	if (!strcmp(word, "%globaltimer")) {
		o->kind = PTX_TIME;
		return true;
	}
	for (i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		n = strlen(specials[i].name);
		if (strncmp(word, specials[i].name, n))
			continue;
		o->kind = specials[i].kind;
		o->number = (uint64_t)(word[n] - 'x') % 3;
		return true;
	}
	return false;
}

/* A variable of the module is its address, one of the block its place, 0. */
static struct ptx_operand symbol_of(struct ptx_reader *r, const char *word)
{
	const struct global *g = r->mod->globals;

	while (g && strcmp(g->name, word))
		g = g->next;
	return (struct ptx_operand){ PTX_NUMBER, g ? (uintptr_t)g->at : 0 };
}

static struct ptx_operand read_operand(struct ptx_reader *r)
{
	struct ptx_operand o = { PTX_NUMBER, 0 };
	char word[MAX_WORD];

	ptx_word(r, word);
	if (isdigit((unsigned char)word[0]) || word[0] == '-') {
		o.number = word[0] == '-' ? (uint64_t)strtoll(word, NULL, 0)
					  : strtoull(word, NULL, 0);
	} else if (word[0] != '%') {
		o = symbol_of(r, word);
	} else if (!read_special(word, &o)) {
		o.kind = PTX_REGISTER;
		o.number = find_register(r, word);
	}
	return o;
}

/* [name+4] or [%r+4] */
static void read_address(struct ptx_reader *r, struct ptx_step *s)
{
	char word[MAX_WORD];
	unsigned i = 0;

	ptx_next_is(r, "[");
	if (s->what == PTX_LOAD_PARAM) {
		ptx_word(r, word);
		while (i < r->func->nr_params && strcmp(r->params[i], word))
			i++;
		if (i < r->func->nr_params)
			s->offset = r->func->params[i].at;
	} else {
		s->a = read_operand(r);
	}
	if (ptx_next_is(r, "+")) {
		ptx_word(r, word);
		s->offset += atoll(word);
	}
	ptx_next_is(r, "]");
}

/* ---- instructions ------------------------------------------------------- */

static const struct known {
	const char *name; /* the first part */
	enum ptx_do what;
} known[] = {
	{ "mov", PTX_MOVE },	   { "cvta", PTX_MOVE },
	{ "add", PTX_ADD },	   { "sub", PTX_SUB },
	{ "mul", PTX_MUL },	   { "setp", PTX_SET },
	{ "ld", PTX_LOAD },	   { "st", PTX_STORE },
	{ "bra", PTX_BRANCH },	   { "ret", PTX_RETURN },
	{ "exit", PTX_RETURN },	   { "trap", PTX_TRAP },
	{ "membar", PTX_NOTHING }, { "fence", PTX_NOTHING },
	{ "call", PTX_ASSERT },
};

static bool find_known(const char *word, struct ptx_step *s)
{
	size_t n = strcspn(word, "."), i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n &&
		    !strncmp(word, known[i].name, n)) {
			s->what = known[i].what;
			return true;
		}
	return false;
}

static enum ptx_compare find_compare(const char *word)
{
	static const char *const names[] = { ".eq", ".ne", ".lt",
					     ".le", ".gt", ".ge" };
	unsigned i = 0;

	while (i < 5 && !strstr(word, names[i]))
		i++;
	return (enum ptx_compare)i;
}

static void read_branch(struct ptx_reader *r, unsigned step)
{
	struct jump *j = &r->jumps[r->nr_jumps % MAX_LABELS];

	ptx_word(r, j->name);
	j->step = step;
	r->nr_jumps++;
}

static void read_rest(struct ptx_reader *r, const char *word,
		      struct ptx_step *s)
{
	char to[MAX_WORD];

	s->size = ptx_type_size(word);
	s->is_shared = strstr(word, ".shared");
	if (s->what == PTX_STORE) {
		/* What is handed to a function is only ever an assertion's. */
		if (strstr(word, ".param"))
			s->what = PTX_NOTHING;
		read_address(r, s);
		ptx_next_is(r, ",");
		s->b = read_operand(r);
		return;
	}
	ptx_word(r, to);
	s->to = find_register(r, to);
	ptx_next_is(r, ",");
	if (s->what == PTX_LOAD) {
		if (strstr(word, ".param"))
			s->what = PTX_LOAD_PARAM;
		read_address(r, s);
		return;
	}
	s->compare = find_compare(word);
	s->a = read_operand(r);
	if (ptx_next_is(r, ","))
		s->b = read_operand(r);
}

static struct ptx_step *add_step(struct ptx_code *c)
{
	struct ptx_step *v =
		realloc(c->steps, (c->nr_steps + 1) * sizeof(*c->steps));

	if (!v)
		abort();
	c->steps = v;
	v[c->nr_steps] = (struct ptx_step){ .guard = -1 };
	return &v[c->nr_steps++];
}

/* false: the word is no instruction. */
static bool read_step(struct ptx_reader *r, char word[MAX_WORD], const char *at)
{
	struct ptx_step *s = add_step(r->code);

	if (word[0] == '@') {
		s->is_not = word[1] == '!';
		s->guard = (int)find_register(r, word + 1 + s->is_not);
		while (isspace((unsigned char)*r->at))
			r->at++;
		at = r->at;
		ptx_word(r, word);
	}
	if (!find_known(word, s)) {
		strcpy(r->bad, word);
		r->bad_at = at;
		return false;
	}
	if (s->what == PTX_BRANCH)
		read_branch(r, r->code->nr_steps - 1);
	else if (s->what < PTX_BRANCH)
		read_rest(r, word, s);
	r->at += strcspn(r->at, ";");
	return true;
}

/* Variables of the block count; those that calls use are no registers. */
static void read_variable(struct ptx_reader *r, const char *word)
{
	const char *end = r->at + strcspn(r->at, ";"), *open;

	if (!strcmp(word, ".shared")) {
		open = memchr(r->at, '[', (size_t)(end - r->at));
		if (open)
			r->func->shared += (unsigned)atoi(open + 1);
	}
	r->at = end;
}

static cu_result close_jumps(struct ptx_reader *r)
{
	unsigned i, k;

	if (r->nr_jumps > MAX_LABELS || r->nr_labels > MAX_LABELS)
		return 218;
	for (i = 0; i < r->nr_jumps; i++) {
		for (k = 0; k < r->nr_labels; k++)
			if (!strcmp(r->labels[k].name, r->jumps[i].name))
				break;
		if (k == r->nr_labels)
			return 218;
		r->code->steps[r->jumps[i].step].to = r->labels[k].step;
	}
	return 0;
}

/* From behind { to behind its }. */
cu_result ptx_body(struct ptx_reader *r)
{
	char word[MAX_WORD];
	const char *at;
	int depth = 1;

	while (depth) {
		while (isspace((unsigned char)*r->at))
			r->at++;
		at = r->at;
		ptx_word(r, word);
		if (!word[0])
			return 218;
		if (!strcmp(word, "{") || !strcmp(word, "}")) {
			depth += word[0] == '{' ? 1 : -1;
		} else if (ptx_next_is(r, ":")) {
			struct label *l =
				&r->labels[r->nr_labels++ % MAX_LABELS];

			strcpy(l->name, word);
			l->step = r->code->nr_steps;
		} else if (word[0] == '.') {
			read_variable(r, word);
		} else if (word[0] != ';' && !read_step(r, word, at)) {
			return 218;
		}
	}
	return close_jumps(r);
}
