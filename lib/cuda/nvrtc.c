/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * NVRTC, the CUDA Toolkit's compiler as a library. It needs neither a card nor
 * a context, so it works on a thread beside the launcher.
 */
#include "cuda/code.h"

#include "base/err.h"
#include "base/util.h"
#include "cuda/cache.h"
#include "cuda/rtc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 65 /* two of them are ours */

typedef struct _nvrtcProgram *rtc_program;

/* Each row has a call's name and its arguments; the result is a number. */
/* clang-format off */
#define NVRTC_CALLS(call) \
	call(nvrtcVersion, int *, int *) \
	call(nvrtcCreateProgram, rtc_program *, const char *, const char *, \
	     int, const char *const *, const char *const *) \
	call(nvrtcDestroyProgram, rtc_program *) \
	call(nvrtcAddNameExpression, rtc_program, const char *) \
	call(nvrtcGetLoweredName, rtc_program, const char *, const char **) \
	call(nvrtcCompileProgram, rtc_program, int, const char *const *) \
	call(nvrtcGetProgramLogSize, rtc_program, size_t *) \
	call(nvrtcGetProgramLog, rtc_program, char *) \
	call(nvrtcGetCUBINSize, rtc_program, size_t *) \
	call(nvrtcGetCUBIN, rtc_program, char *) \
	call(nvrtcGetPTXSize, rtc_program, size_t *) \
	call(nvrtcGetPTX, rtc_program, char *)

/* From CUDA 11.2 on. */
#define NVRTC_LATER_CALLS(call) \
	call(nvrtcGetNumSupportedArchs, int *) \
	call(nvrtcGetSupportedArchs, int *)
/* clang-format on */

struct rtc {
#define NVRTC_FIELD(name, ...) int (*name)(__VA_ARGS__);
	NVRTC_CALLS(NVRTC_FIELD)
	NVRTC_LATER_CALLS(NVRTC_FIELD) /* NULL: it lacks that */
#undef NVRTC_FIELD
};

static const struct {
	const char *name;
	size_t at;
} calls[] = {
#define NVRTC_ROW(name, ...) { #name, offsetof(struct rtc, name) },
	NVRTC_CALLS(NVRTC_ROW) NVRTC_LATER_CALLS(NVRTC_ROW)
#undef NVRTC_ROW
};

#define NVRTC_ONE(name, ...) +1
#define NR_MUST (0 NVRTC_CALLS(NVRTC_ONE))

/* The library stays until the process ends. */
static int load_library(const struct nvrtc_settings *s, struct rtc *rtc,
			struct code_log log)
{
	void *handle = rtc_find(s->library, s->driver), *f;
	const char *why;
	size_t i;

	if (!handle) {
		why = dlerror();
		snprintf(log.text, log.size,
			 "cuda: a text in CUDA C needs NVRTC of the CUDA "
			 "Toolkit: %s",
			 why ? why : s->library);
		return -ENOEXEC;
	}
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		f = dlsym(handle, calls[i].name);
		if (!f && i < NR_MUST)
			break;
		memcpy((char *)rtc + calls[i].at, &f, sizeof(f));
	}
	dlclose(handle);
	if (i == ARRAY_SIZE(calls))
		return 0;
	snprintf(log.text, log.size,
		 "cuda: %s has no %s: NVRTC of CUDA 11.1 or "
		 "later is needed",
		 s->library[0] ? s->library : "libnvrtc.so", calls[i].name);
	return -ENOEXEC;
}

/* ---- targets ------------------------------------------------------------ */

#define MAX_ARCHS 128

/*
 * The newest architecture that the compiler knows and the card runs: that of
 * the card, or an older one, whose PTX the driver compiles. 0: there is none.
 */
static int choose_arch(const struct rtc *rtc, int card)
{
	int v[MAX_ARCHS], nr = 0, best = 0, i;

	if (!rtc->nvrtcGetNumSupportedArchs || !rtc->nvrtcGetSupportedArchs ||
	    rtc->nvrtcGetNumSupportedArchs(&nr) || nr < 1 || nr > MAX_ARCHS ||
	    rtc->nvrtcGetSupportedArchs(v))
		return card;
	for (i = 0; i < nr; i++)
		if (v[i] <= card && v[i] > best)
			best = v[i];
	return best;
}

static int version_of(const struct rtc *rtc)
{
	int major = 0, minor = 0;

	return rtc->nvrtcVersion(&major, &minor) ? 0
						 : 1000 * major + 10 * minor;
}

/* ---- logs --------------------------------------------------------------- */

/* "name(12):" at the beginning of a line: where its numbers begin, and end. */
static bool find_place(const char *line, size_t *first, size_t *last)
{
	size_t n = strcspn(line, "(\n");
	size_t digits = line[n] == '(' ? strspn(line + n + 1, "0123456789") : 0;

	*first = n + 1;
	*last = n + 1 + digits;
	return n && digits && line[*last] == ')' && line[*last + 1] == ':';
}

void nvrtc_map_log(const char *log, struct code_log to)
{
	size_t used = 0, first, last, n;

	to.text[0] = 0;
	while (*log && used < to.size) {
		n = strcspn(log, "\n");
		n += log[n] == '\n';
		if (find_place(log, &first, &last))
			used += (size_t)snprintf(
				to.text + used, to.size - used, "%.*s:%.*s%.*s",
				(int)first - 1, log, (int)(last - first),
				log + first, (int)(n - last - 1),
				log + last + 1);
		else
			used += (size_t)snprintf(to.text + used, to.size - used,
						 "%.*s", (int)n, log);
		log += n;
	}
}

static void get_log(const struct rtc *rtc, rtc_program p, struct code_log log)
{
	size_t n = 0;
	char *all;

	if (!log.size || rtc->nvrtcGetProgramLogSize(p, &n) || n < 2)
		return;
	all = calloc(1, n + 1);
	if (all && !rtc->nvrtcGetProgramLog(p, all))
		nvrtc_map_log(all, log);
	free(all);
}

/* ---- compiling ---------------------------------------------------------- */

/* Splits words, in place, at white space. False: there are too many. */
static bool split_options(char *words, const char **v, int *nr)
{
	char *save = NULL, *word = strtok_r(words, " \t\n", &save);

	for (; word; word = strtok_r(NULL, " \t\n", &save)) {
		if (*nr == MAX_OPTIONS)
			return false;
		v[(*nr)++] = word;
	}
	return true;
}

static int compile_program(const struct rtc *rtc, rtc_program p,
			   const char *target, const char *options,
			   struct code_log log)
{
	char *words = strdup(options ? options : "");
	/* A function without a word before it is the device's: of the host's
	 * there are none. */
	const char *v[MAX_OPTIONS] = { target, "-default-device" };
	int nr = 2, rc = -ENOMEM;

	if (!words)
		return rc;
	if (!split_options(words, v, &nr)) {
		snprintf(log.text, log.size, "cuda: more than %d options",
			 MAX_OPTIONS - 2);
		rc = -EINVAL;
	} else {
		rc = rtc->nvrtcCompileProgram(p, nr, v) ? -ENOEXEC : 0;
		if (rc)
			get_log(rtc, p, log);
	}
	free(words);
	return rc;
}

typedef int (*size_fn)(rtc_program p, size_t *n);
typedef int (*take_fn)(rtc_program p, char *to);

static int take_image(const struct rtc *rtc, rtc_program p, bool is_ptx,
		      const char *entry, struct code_made *out)
{
	size_fn size = is_ptx ? rtc->nvrtcGetPTXSize : rtc->nvrtcGetCUBINSize;
	take_fn take = is_ptx ? rtc->nvrtcGetPTX : rtc->nvrtcGetCUBIN;
	const char *name = NULL;
	size_t n = 0;

	if (size(p, &n) || !n ||
	    (entry && rtc->nvrtcGetLoweredName(p, entry, &name)))
		return -ENOEXEC;
	out->image = malloc(n);
	out->entry = name ? strdup(name) : NULL;
	if (!out->image || (name && !out->entry) || take(p, out->image)) {
		free(out->image);
		free(out->entry);
		return -ENOMEM;
	}
	out->bytes = n;
	return 0;
}

static int compile_text(const struct rtc *rtc, const char *text, int card,
			const struct lkdf_code *c, struct code_made *out,
			struct code_log log)
{
	int arch = choose_arch(rtc, card), rc = -ENOEXEC;
	bool is_ptx = arch != card;
	rtc_program p = NULL;
	char target[40];

	if (!arch) {
		snprintf(log.text, log.size,
			 "cuda: NVRTC %d.%d does not compile for sm_%d any "
			 "more: an older CUDA Toolkit does",
			 version_of(rtc) / 1000, version_of(rtc) % 1000 / 10,
			 card);
		return rc;
	}
	if (rtc->nvrtcCreateProgram(&p, text, c->entry ? c->entry : "kernel", 0,
				    NULL, NULL))
		return rc;
	snprintf(target, sizeof(target), "--gpu-architecture=%s_%d",
		 is_ptx ? "compute" : "sm", arch);
	if (!c->entry || !rtc->nvrtcAddNameExpression(p, c->entry))
		rc = compile_program(rtc, p, target, c->options, log);
	if (!rc)
		rc = take_image(rtc, p, is_ptx, c->entry, out);
	rtc->nvrtcDestroyProgram(&p);
	return rc;
}

static int compile_copy(const struct rtc *rtc, int arch,
			const struct lkdf_code *c, struct code_made *out,
			struct code_log log)
{
	char *text = c->bytes ? strndup(c->image, c->bytes) : strdup(c->image);
	int rc;

	if (!text)
		return err(-ENOMEM, "cuda: no memory");
	rc = compile_text(rtc, text, arch, c, out, log);
	free(text);
	if (rc == -ENOEXEC && log.size && !log.text[0])
		snprintf(log.text, log.size, "cuda: NVRTC does not compile it");
	return rc;
}

/* Without a compiler the image of any will do. */
int nvrtc_compile(const struct nvrtc_settings *s, const struct lkdf_code *c,
		  struct code_made *out, struct code_log log)
{
	struct cache_key key = { .code = c, .arch = s->arch };
	struct rtc rtc;
	int rc = load_library(s, &rtc, log);
	bool may_keep = s->cache[0] && !cache_reads_files(c);

	if (!rc)
		key.compiler = version_of(&rtc);
	if (may_keep && cache_find(s->cache, &key, out))
		return 0;
	if (!rc)
		rc = compile_copy(&rtc, s->arch, c, out, log);
	if (!rc && may_keep)
		cache_keep(s->cache, &key, out);
	return rc;
}
