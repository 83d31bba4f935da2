/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kernel that is locked down: a runtime opens and works. With "integrity", as
 * Secure Boot has it, lkdf probe starts; with "confidentiality" it says that
 * the lockdown refuses it. Only in the machine of machine_lockdown.sh.
 */
#include "tests/api/probe.h"
#include "tests/vm/load.h"

#include <sys/mount.h>

#define LOCKDOWN "/sys/kernel/security/lockdown"

static bool log_says(const char *words)
{
	char line[256];

	snprintf(line, sizeof(line), "grep -q '%s' %s/log", words, probe_dir);
	return system(line) == 0;
}

static const char *probe_said(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/log", probe_dir);
	return vm_read(path);
}

static void a_runtime_works(const char *when)
{
	char options[128];
	struct load load;
	struct lkdf *rt;

	snprintf(options, sizeof(options), "probe=%s/bpf", probe_dir);
	rt = api_open(options);
	printf("# %s: caps 0x%llx\n", when, (unsigned long long)lkdf_caps(rt));
	load_start(&load, rt);
	load_goes_on(&load, 2);
	load_stop(&load);
	is(lkdf_close(rt), 0, "%s: it closes", when);
}

static void it_starts(const char *self)
{
	if (!probe_start(self, "")) {
		ok(false, "lkdf probe starts: %s", probe_said());
	} else {
		ok(true, "lkdf probe starts");
		a_runtime_works("with the probe");
		ok(probe_run("stop"), "and stops");
	}
	probe_end();
}

static void it_is_refused(const char *self)
{
	ok(!probe_start(self, ""), "lkdf probe does not start");
	printf("# %s\n", probe_said());
	ok(log_says("lockdown is .confidentiality"), "by reason of lockdown");
	ok(!log_says("CAP_BPF"), "and not of rights");
	a_runtime_works("refused");
	probe_end();
}

int main(int argc, char **argv)
{
	(void)argc;
	vm_start(80);
	mount("security", "/sys/kernel/security", "securityfs", 0, NULL);
	if (access(LOCKDOWN, R_OK) ||
	    !strstr(vm_read(LOCKDOWN), "[integrity]")) {
		skip("lockdown", "this kernel is not locked down");
		return tap_end();
	}
	a_runtime_works("integrity");
	it_starts(argv[0]);
	/* There is no way back. */
	vm_write(LOCKDOWN, "confidentiality");
	a_runtime_works("confidentiality");
	it_is_refused(argv[0]);
	return tap_end();
}
