/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "bench/machine.h"
#include "json.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct machine {
	char cpu[128], kernel[160];
	int nr_cpus;
	int64_t mem;
};

static void read_cpu(struct machine *m)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512], *colon;

	snprintf(m->cpu, sizeof(m->cpu), "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(m->cpu, sizeof(m->cpu), "%.127s", colon + 2);
		break;
	}
	if (file)
		fclose(file);
}

static void look(struct machine *m)
{
	struct utsname u;
	cpu_set_t set;

	memset(m, 0, sizeof(*m));
	read_cpu(m);
	if (!uname(&u))
		snprintf(m->kernel, sizeof(m->kernel), "%s %s", u.sysname,
			 u.release);
	if (!sched_getaffinity(0, sizeof(set), &set))
		m->nr_cpus = CPU_COUNT(&set);
	m->mem = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

void machine_text(FILE *out)
{
	struct machine m;

	look(&m);
	fprintf(out, "%s, %d CPUs, %s, %.1f GiB\n", m.cpu, m.nr_cpus, m.kernel,
		(double)m.mem / (1 << 30));
}

void machine_json(struct json *j)
{
	struct machine m;

	look(&m);
	json_open_flat(j, "machine", '{');
	json_text(j, "cpu", m.cpu);
	json_text(j, "kernel", m.kernel);
	json_int(j, "cpus", m.nr_cpus);
	json_int(j, "mem", m.mem);
	json_close(j, '}');
}
