/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A libnvrtc.so for tests: CUDA C is compiled for the CPU by the compiler of
 * the machine, as C++ with prelude.hpp in front of it. The CUBIN of a program
 * is an image (kernel.h) that the libcuda.so.1 of this folder loads, and so is
 * its PTX. FAKE_CXX names another compiler. FAKE_NVRTC_ARCHS=75,80 is a
 * compiler for these architectures; without it there is sm_90 alone.
 */
#include "tests/cuda/fake/nvrtc.h"

#include "tests/cuda/fake/cubin.h"
#include "tests/cuda/fake/kernel.h"
#include "tests/cuda/fake/nvrtc_arch.h"
#include "tests/cuda/fake/scan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef FAKE_CXX
#define FAKE_CXX "c++"
#endif
#define MAX_NAMES 64
#define MAX_OPTIONS 2048

/* Numbers of nvrtc.h. */
enum result {
	SUCCESS = 0,
	OUT_OF_MEMORY = 1,
	PROGRAM_CREATION_FAILURE = 2,
	INVALID_INPUT = 3,
	INVALID_PROGRAM = 4,
	INVALID_OPTION = 5,
	COMPILATION = 6,
	NO_NAME_EXPRESSIONS = 8,
	NO_LOWERED_NAMES = 9,
	NAME_NOT_VALID = 10,
	INTERNAL_ERROR = 11,
};

struct name {
	char *expression, *lowered;
};

struct program {
	char *text, *name, *log;
	char folder[256];
	struct name names[MAX_NAMES];
	size_t nr_names;
	struct cubin *cubin;
};

extern char **environ;
extern const char prelude[];

/* kernel.h and prelude.hpp as they are, and a 0. */
__asm__(".pushsection .rodata\n"
	".globl prelude\n"
	".hidden prelude\n"
	"prelude:\n"
	".incbin \"tests/cuda/fake/kernel.h\"\n"
	".incbin \"tests/cuda/fake/prelude.hpp\"\n"
	".byte 0\n"
	".popsection\n");

/* The whole file, a 0 behind it; NULL: it cannot be read. */
static char *read_file(const struct program *p, const char *name, size_t *size)
{
	char path[512];
	struct stat st;
	char *to = NULL;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st))
		to = calloc(1, (size_t)st.st_size + 1);
	if (to && read(fd, to, (size_t)st.st_size) != st.st_size) {
		free(to);
		to = NULL;
	}
	close(fd);
	if (size && to)
		*size = (size_t)st.st_size;
	return to;
}

static FILE *write_file(const struct program *p, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", p->folder, name);
	return fopen(path, "we");
}

/* A command of the shell in the folder; false: it fails, the log says why. */
static bool run_command(struct program *p, const char *format,
			const char *options)
{
	char command[MAX_OPTIONS + 1024], rest[MAX_OPTIONS + 512];
	const char *cxx = getenv("FAKE_CXX");
	char *argv[] = { (char *)"sh", (char *)"-c", command, NULL };
	int status = 1;
	pid_t pid;

	snprintf(rest, sizeof(rest), format, options);
	snprintf(command, sizeof(command),
		 "cd '%s' && exec %s -x c++ -std=c++17 -O1 %s 2>log", p->folder,
		 cxx && cxx[0] ? cxx : FAKE_CXX, rest);
	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ))
		return false;
	while (waitpid(pid, &status, 0) < 0)
		;
	return !status;
}

/* "name:2:5: error" is "name(2): error" here. */
static void take_log(struct program *p)
{
	char *text = read_file(p, "log", NULL), *line, *save = NULL, *number;
	size_t n = strlen(p->name), size = text ? 2 * strlen(text) + 1 : 1;
	size_t used = 0;

	free(p->log);
	p->log = calloc(1, size);
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && p->log;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strstr(line, ": In "))
			continue; /* where it is comes behind it */
		number = !strncmp(line, p->name, n) && line[n] == ':'
				 ? line + n + 1
				 : NULL;
		if (number && strtol(number, &number, 10) && *number == ':') {
			size_t digits = (size_t)(number - line) - n - 1;

			strtol(number + 1, &number, 10);
			used += (size_t)snprintf(p->log + used, size - used,
						 "%s(%.*s)%s\n", p->name,
						 (int)digits, line + n + 1,
						 number);
		} else {
			used += (size_t)snprintf(p->log + used, size - used,
						 "%s\n", line);
		}
	}
	free(text);
}

/* Options of the real compiler: those of the preprocessor are taken. */
static int read_options(int n, const char *const *option, char *to, size_t size)
{
	size_t used = 0;
	int i;

	to[0] = 0;
	for (i = 0; i < n; i++) {
		if (option[i][0] != '-' || strchr(option[i], '\''))
			return INVALID_OPTION;
		if (!strncmp(option[i], "--gpu-architecture=", 19) &&
		    !arch_is_known(option[i] + 19))
			return INVALID_OPTION;
		if (strchr("DUI", option[i][1]))
			used += (size_t)snprintf(to + used, size - used,
						 " '%s'", option[i]);
		if (used >= size)
			return INVALID_OPTION;
	}
	return SUCCESS;
}

static int write_text(struct program *p)
{
	FILE *f = write_file(p, "text");

	if (!f)
		return INTERNAL_ERROR;
	fprintf(f, "#line 1 \"%s\"\n%s\n", p->name, p->text);
	return fclose(f) ? INTERNAL_ERROR : SUCCESS;
}

/* The text that the compiler reads: all kernels of it are in the list. */
static int write_kernels(struct program *p)
{
	char *text = read_file(p, "plain", NULL);
	struct scan s = { 0 };
	FILE *f = write_file(p, "kernels");
	size_t i;

	if (!text || !f) {
		free(text);
		if (f)
			fclose(f);
		return INTERNAL_ERROR;
	}
	fputs(prelude, f);
	scan_text(&s, text, f);
	fprintf(f, "\n#line 1 \"names\"\n");
	for (i = 0; i < s.nr_kernels; i++)
		fprintf(f,
			"static const fake::kernel fake_kernel_%zu"
			"(&%s, nullptr, fake::bounds(%s));\n",
			i, s.kernels[i].name, s.kernels[i].bounds);
	for (i = 0; i < p->nr_names; i++)
		fprintf(f,
			"static const fake::kernel fake_name_%zu"
			"(&%s, \"%s\", fake::bounds());\n",
			i, p->names[i].expression, p->names[i].expression);
	fprintf(f,
		"extern \"C\" const fake_image fake_image = { &fake::first, "
		"fake::place, fake::set_calls, %d };\n",
		s.has_barriers);
	scan_free(&s);
	free(text);
	return fclose(f) ? INTERNAL_ERROR : SUCCESS;
}

static int make_cubin(struct program *p)
{
	size_t size = 0;
	char *object = read_file(p, "object", &size);

	if (!object)
		return INTERNAL_ERROR;
	p->cubin = calloc(1, sizeof(*p->cubin) + size);
	if (!p->cubin)
		abort();
	memcpy(p->cubin->elf.e_ident, ELFMAG, SELFMAG);
	p->cubin->elf.e_ident[EI_CLASS] = ELFCLASS64;
	p->cubin->elf.e_ident[EI_DATA] = ELFDATA2LSB;
	p->cubin->elf.e_ident[EI_VERSION] = EV_CURRENT;
	p->cubin->elf.e_type = ET_EXEC;
	p->cubin->elf.e_machine = CUBIN_MACHINE;
	p->cubin->elf.e_flags = CUBIN_SM;
	p->cubin->magic = CUBIN_MAGIC;
	p->cubin->size = size;
	p->cubin->sum = cubin_sum((unsigned char *)object, size);
	memcpy(p->cubin->bytes, object, size);
	free(object);
	return SUCCESS;
}

/* The names that the loader will find kernels by. */
static int lower_names(struct program *p)
{
	const struct fake_image *image;
	const struct fake_kernel *k;
	char path[512];
	void *object;
	Dl_info at;
	size_t i;

	snprintf(path, sizeof(path), "%s/object", p->folder);
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return INTERNAL_ERROR;
	image = dlsym(object, "fake_image");
	for (k = image ? *image->first : NULL; k; k = k->next)
		for (i = 0; i < p->nr_names; i++)
			if (k->expression && dladdr(k->function, &at) &&
			    at.dli_sname &&
			    !strcmp(k->expression, p->names[i].expression) &&
			    !p->names[i].lowered)
				p->names[i].lowered = strdup(at.dli_sname);
	dlclose(object);
	return SUCCESS;
}

static int compile(struct program *p, const char *options)
{
	int rc = write_text(p);

	if (!rc && !run_command(p,
				"-E -D__CUDACC_RTC__ -D__CUDACC__ "
				"-D__CUDA_ARCH__=900 %s text -o plain",
				options))
		rc = COMPILATION;
	if (!rc)
		rc = write_kernels(p);
	/* Functions that are nobody's stay: the list has them. */
	if (!rc && !run_command(p,
				"-w -fPIC -shared -fno-extern-tls-init "
				"-fno-gnu-unique%s "
				"kernels -o object",
				""))
		rc = COMPILATION;
	take_log(p);
	if (!rc)
		rc = make_cubin(p);
	return rc ? rc : lower_names(p);
}

/* A folder with files and nothing else. */
static void remove_folder(const struct program *p)
{
	static const char *const names[] = { "text", "plain", "kernels",
					     "object", "log" };
	char path[512];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->folder, names[i]);
		unlink(path);
	}
	rmdir(p->folder);
}

/* ---- calls, with the prototypes of nvrtc.h ------------------------------ */

API const char *nvrtcGetErrorString(int r)
{
	static const char *const names[] = {
		"NVRTC_SUCCESS",
		"NVRTC_ERROR_OUT_OF_MEMORY",
		"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
		"NVRTC_ERROR_INVALID_INPUT",
		"NVRTC_ERROR_INVALID_PROGRAM",
		"NVRTC_ERROR_INVALID_OPTION",
		"NVRTC_ERROR_COMPILATION",
		"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
		"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
		"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
		"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
		"NVRTC_ERROR_INTERNAL_ERROR",
	};

	return r >= 0 && r < 12 ? names[r] : "NVRTC_ERROR unknown";
}

API int nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 0;
	return SUCCESS;
}

API int nvrtcCreateProgram(nvrtcProgram *out, const char *text,
			   const char *name, int nr_headers,
			   const char *const *headers, const char *const *names)
{
	struct program *p;

	(void)headers;
	(void)names;
	if (!out || !text || nr_headers)
		return INVALID_INPUT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return OUT_OF_MEMORY;
	p->text = strdup(text);
	p->name = strdup(name && name[0] ? name : "default_program");
	p->log = strdup("");
	*out = p;
	return SUCCESS;
}

API int nvrtcDestroyProgram(nvrtcProgram *program)
{
	struct program *p = *program;
	size_t i;

	for (i = 0; i < p->nr_names; i++) {
		free(p->names[i].expression);
		free(p->names[i].lowered);
	}
	free(p->cubin);
	free(p->log);
	free(p->name);
	free(p->text);
	free(p);
	*program = NULL;
	return SUCCESS;
}

API int nvrtcAddNameExpression(nvrtcProgram p, const char *expression)
{
	if (p->cubin)
		return NO_NAME_EXPRESSIONS;
	if (p->nr_names == MAX_NAMES)
		return OUT_OF_MEMORY;
	p->names[p->nr_names++].expression =
		strdup(expression + (expression[0] == '&'));
	return SUCCESS;
}

API int nvrtcGetLoweredName(nvrtcProgram p, const char *expression,
			    const char **lowered)
{
	size_t i;

	if (!p->cubin)
		return NO_LOWERED_NAMES;
	expression += expression[0] == '&';
	for (i = 0; i < p->nr_names; i++)
		if (!strcmp(p->names[i].expression, expression) &&
		    p->names[i].lowered) {
			*lowered = p->names[i].lowered;
			return SUCCESS;
		}
	return NAME_NOT_VALID;
}

API int nvrtcCompileProgram(nvrtcProgram p, int nr, const char *const *option)
{
	const char *folder = getenv("TMPDIR");
	char options[MAX_OPTIONS];
	int rc = read_options(nr, option, options, sizeof(options));

	if (rc)
		return rc;
	snprintf(p->folder, sizeof(p->folder), "%s/fake-nvrtc-XXXXXX",
		 folder && folder[0] ? folder : "/tmp");
	if (!mkdtemp(p->folder))
		return INTERNAL_ERROR;
	arch_note_compiled();
	rc = compile(p, options);
	remove_folder(p);
	return rc;
}

API int nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size)
{
	*size = strlen(p->log) + 1;
	return SUCCESS;
}

API int nvrtcGetProgramLog(nvrtcProgram p, char *to)
{
	strcpy(to, p->log);
	return SUCCESS;
}

API int nvrtcGetCUBINSize(nvrtcProgram p, size_t *size)
{
	if (!p->cubin)
		return INVALID_PROGRAM;
	*size = sizeof(*p->cubin) + p->cubin->size;
	return SUCCESS;
}

API int nvrtcGetCUBIN(nvrtcProgram p, char *to)
{
	if (!p->cubin)
		return INVALID_PROGRAM;
	memcpy(to, p->cubin, sizeof(*p->cubin) + p->cubin->size);
	return SUCCESS;
}

API int nvrtcGetPTXSize(nvrtcProgram p, size_t *size)
{
	return nvrtcGetCUBINSize(p, size);
}

API int nvrtcGetPTX(nvrtcProgram p, char *to)
{
	arch_note_ptx();
	return nvrtcGetCUBIN(p, to);
}
