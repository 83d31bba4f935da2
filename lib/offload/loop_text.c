/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/loop_text.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* FIRST and STEP of a dimension: this thread among all, and how many. */
static const char opencl_macros[] =
	"#define GLOBAL global\n"
	"#define LOCAL local\n"
	"#define DEVICE static\n"
	"#define LKDF_KERNEL kernel\n"
	"#define LKDF_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)\n"
	"#define LKDF_THREAD(d) get_local_id(d)\n"
	"#define LKDF_BLOCK(d) get_group_id(d)\n"
	"#define LKDF_FIRST(d) get_global_id(d)\n"
	"#define LKDF_STEP(d) get_global_size(d)\n";

static const char cuda_macros[] =
	"typedef unsigned char uchar;\n"
	"typedef unsigned short ushort;\n"
	"typedef unsigned int uint;\n"
	"typedef unsigned long ulong;\n"
	"#define GLOBAL\n"
	"#define LOCAL\n"
	"#define DEVICE static __device__\n"
	"#define LKDF_KERNEL extern \"C\" __global__\n"
	"#define LKDF_BARRIER() __syncthreads()\n"
	"#define LKDF_OF(v, d) ((d) == 0 ? v.x : (d) == 1 ? v.y : v.z)\n"
	"#define LKDF_THREAD(d) LKDF_OF(threadIdx, d)\n"
	"#define LKDF_BLOCK(d) LKDF_OF(blockIdx, d)\n"
	"#define LKDF_STEP(d) \\\n"
	"\t((unsigned long)LKDF_OF(gridDim, d) * LKDF_OF(blockDim, d))\n"
	"#define LKDF_FIRST(d) \\\n"
	"\t((unsigned long)LKDF_BLOCK(d) * LKDF_OF(blockDim, d) + \\\n"
	"\t LKDF_THREAD(d))\n";

static bool is_identifier(const char *s)
{
	if (!s || (!isalpha((unsigned char)*s) && *s != '_'))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

bool loop_text_is_type(const char *s)
{
	bool has_word = false;

	if (!s)
		return false;
	for (; *s; s++) {
		if (isalpha((unsigned char)*s))
			has_word = true;
		else if (!isdigit((unsigned char)*s) && !strchr("_* ", *s))
			return false;
	}
	return has_word;
}

static int check_head(const struct loop_head *h)
{
	const char *type;
	uint32_t i;

	if (!is_identifier(h->entry))
		return err(-EINVAL, "loop: entry \"%s\" is no name of C",
			   h->entry ? h->entry : "");
	if (h->nr_param > LOOP_MAX_PARAMS)
		return err(-EINVAL, "loop: %s: %u parameters, at most %u",
			   h->entry, h->nr_param, LOOP_MAX_PARAMS);
	for (i = 0; i < h->nr_param; i++) {
		type = h->param[i].type;
		if (!loop_text_is_type(type))
			return err(
				-EINVAL,
				"loop: %s: type \"%s\" of p%u: a type that a "
				"name can follow is needed",
				h->entry, type ? type : "", i);
		if (strstr(type, "LOCAL"))
			return err(-EINVAL,
				   "loop: %s: p%u: items have no memory of a "
				   "block",
				   h->entry, i);
	}
	return 0;
}

int loop_text_begin(const struct loop_head *h, struct text *out)
{
	int rc = check_head(h);
	uint32_t i;

	if (rc)
		return rc;
	text_put(out, "%s",
		 h->language == LOOP_CUDA ? cuda_macros : opencl_macros);
	if (h->top)
		text_put(out, "#line 1 \"%s.top\"\n%s\n", h->entry, h->top);
	text_put(out, "#line 1 \"%s.kernel\"\n", h->entry);
	for (i = 0; i < h->nr_param; i++)
		if (h->param[i].bytes)
			text_put(out,
				 "typedef char lkdf_%s_has_bytes_of_p%u"
				 "[sizeof(%s) == %u ? 1 : -1];\n",
				 h->entry, i, h->param[i].type,
				 h->param[i].bytes);
	return 0;
}

static void put_param(const struct loop_head *h, uint32_t i, struct text *out)
{
	const char *type = h->param[i].type;

	text_put(out, "%s%sp%u, ", type,
		 type[strlen(type) - 1] == '*' ? "" : " ", i);
}

void loop_text_params(const struct loop_head *h, struct text *out)
{
	uint32_t i;

	for (i = 0; i < h->nr_param; i++)
		put_param(h, i, out);
}

void loop_text_kernel_params(const struct loop_head *h, struct text *out)
{
	uint32_t i;

	for (i = 0; i < h->nr_param; i++) {
		if (h->param[i].by_memory)
			text_put(out, "GLOBAL const %s *p%u, ",
				 h->param[i].type, i);
		else
			put_param(h, i, out);
	}
}

void loop_text_args(const struct loop_head *h, struct text *out)
{
	uint32_t i;

	for (i = 0; i < h->nr_param; i++)
		text_put(out, "%sp%u, ", h->param[i].by_memory ? "*" : "", i);
}

static void put_item(const struct loop_text *l, struct text *out)
{
	const struct loop_head *h = &l->head;

	text_put(out, "DEVICE void %s_item(", h->entry);
	loop_text_params(h, out);
	text_put(out,
		 "unsigned long i, unsigned long j, unsigned long k)\n{\n"
		 "#line 1 \"%s\"\n%s\n#line 100 \"%s.kernel\"\n}\n",
		 h->entry, l->body, h->entry);
}

static void put_bounds(const struct loop_text *l, struct text *out)
{
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	if (!threads && l->head.language == LOOP_OPENCL)
		return;
	threads = threads ? threads : l->max_block;
	if (!threads)
		return;
	if (l->head.language == LOOP_OPENCL)
		text_put(out,
			 "__attribute__((reqd_work_group_size(%u, %u, %u)))\n",
			 l->block[0], l->block[1], l->block[2]);
	else if (l->min_blocks)
		text_put(out, "__launch_bounds__(%llu, %u)\n",
			 (unsigned long long)threads, l->min_blocks);
	else
		text_put(out, "__launch_bounds__(%llu)\n",
			 (unsigned long long)threads);
}

/* The parameters of the user first: theirs are the lower numbers. */
static void put_signature(const struct loop_text *l, struct text *out)
{
	uint32_t d;

	text_put(out, "LKDF_KERNEL void\n");
	put_bounds(l, out);
	text_put(out, "%s(", l->head.entry);
	loop_text_kernel_params(&l->head, out);
	for (d = 0; d < l->nr_dims; d++)
		text_put(out, "%sunsigned long b%u, unsigned long n%u",
			 d ? ", " : "", d, d);
	text_put(out, ")\n");
}

static void put_loops(const struct loop_text *l, struct text *out)
{
	uint32_t d;

	text_put(out, "{\n");
	for (d = 0; d < l->nr_dims; d++)
		text_put(out, "\tunsigned long x%u;\n", d);
	text_put(out, "\n");
	while (d--)
		text_put(out,
			 "\tfor (x%u = LKDF_FIRST(%u); x%u < n%u;\n"
			 "\t     x%u = LKDF_STEP(%u) < n%u - x%u ? "
			 "x%u + LKDF_STEP(%u) : n%u)\n",
			 d, d, d, d, d, d, d, d, d, d, d);
	text_put(out, "\t\t%s_item(", l->head.entry);
	loop_text_args(&l->head, out);
	for (d = 0; d < 3; d++)
		text_put(out, d < l->nr_dims ? "%sb%u + x%u" : "%s0",
			 d ? ", " : "", d, d);
	text_put(out, ");\n}\n");
}

int loop_text(const struct loop_text *l, struct text *out)
{
	int rc;

	if (!l->body || l->nr_dims < 1 || l->nr_dims > 3)
		return err(-EINVAL, "loop: %s: %s", l->head.entry,
			   l->body ? "1 to 3 dimensions are needed"
				   : "there is no body");
	rc = loop_text_begin(&l->head, out);
	if (rc)
		return rc;
	put_item(l, out);
	put_signature(l, out);
	put_loops(l, out);
	return out->has_failed ? err(-ENOMEM, "loop: no memory") : 0;
}
