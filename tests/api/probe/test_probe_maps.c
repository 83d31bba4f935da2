/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Maps that lie where those of the probe are pinned and hold values of another
 * size: neither the tool nor a runtime takes them.
 */
#include "tests/api/probe/probe_bpf.h"

#include <bpf/uapi/lkdf_probe.h>
#include <lkdf/lkdf.h>

static int pin(int fd, const char *name)
{
	char path[PATH_MAX];
	union bpf_attr attr;

	snprintf(path, sizeof(path), "%s/bpf/%s", probe_dir, name);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	attr.bpf_fd = (uint32_t)fd;
	return (int)call_bpf(BPF_OBJ_PIN, &attr);
}

static int create_array(uint32_t value_size, uint32_t nr)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = value_size;
	attr.max_entries = nr;
	attr.map_flags = BPF_F_MMAPABLE;
	return (int)call_bpf(BPF_MAP_CREATE, &attr);
}

/* Does the tool's log have the line? */
static bool logs(const char *words, const char *line)
{
	char call[2 * PATH_MAX], log[128];

	snprintf(call, sizeof(call), "'%s' %s >%s/log 2>&1", probe_tool, words,
		 probe_dir);
	snprintf(log, sizeof(log), "%s/log", probe_dir);
	return system(call) >= 0 && probe_says(log, line);
}

/* How many maps this process has. */
static int nr_mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[PATH_MAX];
	int nr = 0;

	while (f && fgets(line, sizeof(line), f))
		nr += strstr(line, "bpf-map") != NULL;
	if (f)
		fclose(f);
	return nr;
}

/* head, slots, words, stacks */
#define NR_MAPS 4

/* How many of them a runtime has. */
static int nr_taken(void)
{
	int before = nr_mapped(), nr;
	struct lkdf *rt = NULL;
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/bpf", probe_dir);
	setenv("LKDF_PROBE", dir, 1);
	if (lkdf_open("workers=1", &rt))
		return -1;
	nr = nr_mapped() - before;
	return lkdf_close(rt) ? -1 : nr;
}

/* Each value is twice as large: by our size it would be read as two. */
static void larger_values_are_refused(const char *name, uint32_t size)
{
	const char *const no = "those maps are not the probe's";
	char path[PATH_MAX], words[2 * PATH_MAX];
	int ours = get_pin(name), other = create_array(2 * size, 1 << 16);

	snprintf(path, sizeof(path), "%s/bpf/%s", probe_dir, name);
	snprintf(words, sizeof(words), "probe status --dir %s/bpf", probe_dir);
	is(unlink(path), 0, "%s is taken away", name);
	is(pin(other, name), 0, "another map is in its place");
	ok(logs(words, no), "%s of larger values is refused by the tool", name);
	is(nr_taken(), 0, "and by a runtime");
	is(unlink(path) ? -errno : pin(ours, name), 0, "%s is back", name);
	ok(!logs(words, no), "and is taken by the tool");
	is(nr_taken(), NR_MAPS, "and by a runtime, with the others");
	close(ours);
	close(other);
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (probe_start(argv[0], "--slots 8")) {
		larger_values_are_refused("slots",
					  sizeof(struct lkdf_probe_slot));
		larger_values_are_refused("words",
					  sizeof(struct lkdf_probe_word));
	} else {
		probe_absent("maps");
	}
	probe_end();
	return tap_end();
}
