/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/err.h"
#include "base/option.h"
#include "base/util.h"
#include "tests/tap.h"

#include <errno.h>
#include <stddef.h>

struct config {
	int64_t workers, pin, io, devices;
	char cpus[OPTION_TEXT_SIZE];
};

static const char *const io_words[] = { "steal", "owner", NULL };
static const char *const device_words[] = { "none", "cuda", "opencl", NULL };

static const struct option_row rows[] = {
	{ .name = "workers",
	  .type = OPTION_INT,
	  .offset = offsetof(struct config, workers),
	  .max = 1024 },
	{ .name = "pin",
	  .type = OPTION_BOOL,
	  .offset = offsetof(struct config, pin),
	  .init = 1 },
	{ .name = "io",
	  .type = OPTION_WORD,
	  .offset = offsetof(struct config, io),
	  .words = io_words },
	{ .name = "devices",
	  .type = OPTION_WORDS,
	  .offset = offsetof(struct config, devices),
	  .words = device_words },
	{ .name = "cpus",
	  .type = OPTION_TEXT,
	  .offset = offsetof(struct config, cpus) },
};

static int parse(const char *text, struct config *c)
{
	option_defaults(rows, ARRAY_SIZE(rows), c);
	return option_parse(rows, ARRAY_SIZE(rows), text, c);
}

static void values_are_parsed(void)
{
	struct config c;

	is(parse(NULL, &c), 0, "no text is all defaults");
	is(c.pin, 1, "a default is kept");
	is(parse("workers=8,io=owner,pin=no,cpus=\"0,2-3\"", &c), 0,
	   "four options are parsed");
	is(c.workers, 8, "a number");
	is(c.io, 1, "a word");
	is(c.pin, 0, "a boolean");
	ok(!strcmp(c.cpus, "0,2-3"), "quotes hide commas");
	is(parse("pin", &c), 0, "a boolean alone means yes");
}

static void bad_options_name_the_key(void)
{
	struct config c;

	is(parse("worker=8", &c), -EINVAL, "an unknown name is refused");
	has(err_text(), "\"workers\"", "the nearest known name is given");
	is(parse("workers=x", &c), -EINVAL, "a word for a number is refused");
	has(err_text(), "workers=x", "the offending key is given");
	is(parse("workers=9999", &c), -EINVAL, "out of range is refused");
	has(err_text(), "0 .. 1024", "the range is given");
	is(parse("io=fast", &c), -EINVAL, "an unknown word is refused");
	has(err_text(), "steal, owner", "the words are given");
	is(parse("workers", &c), -EINVAL, "a number without value is refused");
	is(parse("cpus=\"0", &c), -EINVAL, "an open quote is refused");
}

static void has_devices(const char *text, int64_t bits, const char *told)
{
	char value[64];
	struct config c;

	is(parse(text, &c), 0, "%s: parsed", text);
	is(c.devices, bits, "%s: a bit for each word", text);
	option_text(&rows[3], &c, value, sizeof(value));
	ok(!strcmp(value, told), "%s: told as %s", text, told);
}

static void words_are_a_set(void)
{
	struct config c;

	has_devices("", 0, "none");
	has_devices("devices=none", 0, "none");
	has_devices("devices=opencl", 4, "opencl");
	has_devices("devices=\"opencl,cuda\"", 6, "cuda,opencl");
	is(parse("devices=\"cuda,\"", &c), -EINVAL, "a word that is empty");
	is(parse("devices=\"cuda,cud\"", &c), -EINVAL, "an unknown one");
	has(err_text(), "none, cuda, opencl", "the words are given");
}

int main(void)
{
	tap_start(20);
	values_are_parsed();
	words_are_a_set();
	bad_options_name_the_key();
	return tap_end();
}
