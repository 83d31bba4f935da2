/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/fold_text.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_BLOCK 1024

/* A whole number of blocks, so that no piece but the last is ragged. */
uint64_t fold_piece(uint64_t n, uint32_t block)
{
	uint64_t rows = n / block + (n % block != 0);

	return (rows / block + (rows % block != 0)) * block;
}

uint32_t fold_pieces(uint64_t n, uint32_t block)
{
	uint64_t piece = fold_piece(n, block);

	return n ? (uint32_t)(n / piece + (n % piece != 0)) : 0;
}

static int check_fold(const struct fold_text *f)
{
	const char *name = f->head.entry;

	if (!f->type || !f->item || !f->join || !f->neutral)
		return err(-EINVAL,
			   "fold: %s: type, item, join and neutral are needed",
			   name);
	if (!loop_text_is_type(f->type))
		return err(-EINVAL,
			   "fold: %s: type \"%s\": a type that a name can "
			   "follow is needed",
			   name, f->type);
	if (f->block < 2 || f->block > MAX_BLOCK || f->block & (f->block - 1))
		return err(-EINVAL,
			   "fold: %s: block of %u: a power of two of 2 to %u "
			   "is needed",
			   name, f->block, MAX_BLOCK);
	return 0;
}

static void put_functions(const struct fold_text *f, struct text *out)
{
	const char *name = f->head.entry;

	text_put(out, "typedef %s %s_value;\n", f->type, name);
	if (f->value_size)
		text_put(out,
			 "typedef char lkdf_%s_has_bytes_of_type"
			 "[sizeof(%s_value) == %u ? 1 : -1];\n",
			 name, name, f->value_size);
	text_put(out, "DEVICE %s_value %s_item(", name, name);
	loop_text_params(&f->head, out);
	text_put(out,
		 "unsigned long i)\n{\n#line 1 \"%s.item\"\nreturn (%s);\n"
		 "#line 100 \"%s.kernel\"\n}\n",
		 name, f->item, name);
	text_put(out,
		 "DEVICE %s_value %s_join(%s_value a, %s_value b)\n{\n"
		 "#line 1 \"%s.join\"\nreturn (%s);\n"
		 "#line 200 \"%s.kernel\"\n}\n",
		 name, name, name, name, name, f->join, name);
	text_put(out,
		 "DEVICE %s_value %s_neutral(void)\n{\n"
		 "#line 1 \"%s.neutral\"\nreturn (%s);\n"
		 "#line 300 \"%s.kernel\"\n}\n",
		 name, name, name, f->neutral, name);
}

static void put_kernel(const struct fold_text *f, const char *suffix,
		       struct text *out)
{
	text_put(out, "LKDF_KERNEL void\n");
	if (f->head.language == LOOP_OPENCL)
		text_put(out,
			 "__attribute__((reqd_work_group_size(%u, 1, 1)))\n",
			 f->block);
	else
		text_put(out, "__launch_bounds__(%u)\n", f->block);
	text_put(out, "%s_%s(", f->head.entry, suffix);
}

/* The variables of each kernel, and how long the block's piece is. */
static void put_begin(const struct fold_text *f, struct text *out)
{
	text_put(out,
		 "{\n\tLKDF_SHARED %s_value s[%u];\n"
		 "\tunsigned t = (unsigned)LKDF_THREAD(0);\n",
		 f->head.entry, f->block);
}

static void put_piece(struct text *out)
{
	text_put(out, "\tunsigned long o, from = LKDF_BLOCK(0) * piece, "
		      "len = n - from < piece ? n - from : piece;\n");
}

static void put_part(const struct fold_text *f, struct text *out)
{
	put_kernel(f, "part", out);
	loop_text_kernel_params(&f->head, out);
	text_put(out,
		 "unsigned long begin, unsigned long n, unsigned long piece, "
		 "GLOBAL %s_value *part)\n",
		 f->head.entry);
}

/* Each thread has one part, or none. */
static void put_last(const struct fold_text *f, struct text *out)
{
	const char *name = f->head.entry;

	put_kernel(f, "last", out);
	text_put(out,
		 "GLOBAL %s_value *part, unsigned nr, GLOBAL %s_value *out)\n",
		 name, name);
	put_begin(f, out);
	text_put(out,
		 "\t%s_value v = t < nr ? part[t] : %s_neutral();\n"
		 "\tunsigned h;\n\n",
		 name, name);
}

/* s[0] = the join of all, pairs a half apart. */
static void put_halves(const struct fold_text *f, struct text *out)
{
	text_put(out,
		 "\ts[t] = v;\n\tLKDF_BARRIER();\n"
		 "\tfor (h = %u; h; h /= 2) {\n"
		 "\t\tif (t < h)\n\t\t\ts[t] = %s_join(s[t], s[t + h]);\n"
		 "\t\tLKDF_BARRIER();\n\t}\n",
		 f->block / 2, f->head.entry);
}

/* s[t] = the join of the values of threads 0 .. t. */
static void put_inclusive(const struct fold_text *f, const char *in,
			  struct text *out)
{
	const char *name = f->head.entry;

	text_put(out, "%ss[t] = v;\n%sLKDF_BARRIER();\n", in, in);
	text_put(out, "%sfor (h = 1; h < %u; h *= 2) {\n", in, f->block);
	text_put(out, "%s\tif (t >= h)\n%s\t\tv = %s_join(s[t - h], v);\n", in,
		 in, name);
	text_put(out, "%s\tLKDF_BARRIER();\n%s\ts[t] = v;\n", in, in);
	text_put(out, "%s\tLKDF_BARRIER();\n%s}\n", in, in);
}

static void put_reduction(const struct fold_text *f, struct text *out)
{
	const char *name = f->head.entry;

	put_part(f, out);
	put_begin(f, out);
	put_piece(out);
	text_put(out,
		 "\t%s_value v = %s_neutral();\n\tunsigned h;\n\n"
		 "\tfor (o = t; o < len; o += %u)\n"
		 "\t\tv = %s_join(v, %s_item(",
		 name, name, f->block, name, name);
	loop_text_args(&f->head, out);
	text_put(out, "begin + from + o));\n");
	put_halves(f, out);
	text_put(out, "\tif (!t)\n\t\tpart[LKDF_BLOCK(0)] = s[0];\n}\n");

	put_last(f, out);
	put_halves(f, out);
	text_put(out, "\tif (!t)\n\t\tout[0] = s[0];\n}\n");
}

/* The tiles of a piece one after the other; carry: what precedes a tile. */
static void put_tiles(const struct fold_text *f, const char *first,
		      const char *each, struct text *out)
{
	const char *name = f->head.entry;

	put_begin(f, out);
	put_piece(out);
	text_put(out,
		 "\t%s_value v, carry = %s;\n\tunsigned h;\n\n"
		 "\tfor (o = t; o - t < len; o += %u) {\n"
		 "\t\tv = o < len ? %s_item(",
		 name, first, f->block, name);
	loop_text_args(&f->head, out);
	text_put(out, "begin + from + o) : %s_neutral();\n", name);
	put_inclusive(f, "\t\t", out);
	text_put(out,
		 "%s\t\tcarry = %s_join(carry, s[%u]);\n"
		 "\t\tLKDF_BARRIER();\n\t}\n",
		 each, name, f->block - 1);
}

static void put_out(const struct fold_text *f, struct text *each)
{
	const char *name = f->head.entry;

	text_put(each, "\t\tif (o < len)\n\t\t\tout[from + o] = ");
	if (f->sort == FOLD_SCAN)
		text_put(each, "%s_join(carry, v);\n", name);
	else
		text_put(each, "t ? %s_join(carry, s[t - 1]) : carry;\n", name);
}

static void put_scan(const struct fold_text *f, struct text *out)
{
	struct text first = { 0 }, each = { 0 };
	const char *name = f->head.entry;

	text_put(&first, "%s_neutral()", name);
	put_out(f, &each);
	if (first.has_failed || each.has_failed) {
		out->has_failed = true;
		goto out_free;
	}
	put_part(f, out);
	put_tiles(f, first.buf, "", out);
	text_put(out, "\tif (!t)\n\t\tpart[LKDF_BLOCK(0)] = carry;\n}\n");

	put_last(f, out);
	put_inclusive(f, "\t", out);
	text_put(out,
		 "\tif (t < nr)\n\t\tpart[t] = t ? s[t - 1] : %s_neutral();\n"
		 "\tif (t == %u)\n\t\tout[0] = v;\n}\n",
		 name, f->block - 1);

	put_kernel(f, "scan", out);
	loop_text_kernel_params(&f->head, out);
	text_put(out,
		 "unsigned long begin, unsigned long n, unsigned long piece, "
		 "GLOBAL const %s_value *part, GLOBAL %s_value *out)\n",
		 name, name);
	put_tiles(f, "part[LKDF_BLOCK(0)]", each.buf, out);
	text_put(out, "}\n");
out_free:
	free(first.buf);
	free(each.buf);
}

int fold_text(const struct fold_text *f, struct text *out)
{
	int rc = loop_text_begin(&f->head, out);

	if (!rc)
		rc = check_fold(f);
	if (rc)
		return rc;
	text_put(out, "%s",
		 f->head.language == LOOP_CUDA
			 ? "#define LKDF_SHARED __shared__\n"
			 : "#define LKDF_SHARED local\n");
	put_functions(f, out);
	if (f->sort == FOLD_REDUCE)
		put_reduction(f, out);
	else
		put_scan(f, out);
	return out->has_failed ? err(-ENOMEM, "fold: no memory") : 0;
}
