# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Tests of the module, in the layout of the kernel's own: programs that need
# nothing but the module, static, so that any machine runs them.

KMOD_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/kmod/test_*.c))
# The library's tests of placement, which machine_facts.sh takes.
VM_FACTS := $(addprefix $(BUILD)/tests/vm/test_,facts listen \
	moves data pages)
# These need no module.
KMOD_SH_TESTS := tests/kmod/test_reader.sh tests/kmod/test_manual.sh
KMOD_NATIVE := $(BUILD)/tests/kmod/bench_node_of
KMOD_FUZZ := $(BUILD)/tests/kmod/fuzz_ioctl
# None of them is in make check, which says so.
# Two nodes on 6.12; those on 6.1 with KMOD_OLD=four or two_old one at a time.
KMOD_OLD ?= four two_old
KMOD_MATRIX = $(patsubst %,tests/kmod/machine_kmod_%.sh,two $(KMOD_OLD))
# The library with the module, and the bench of it.
KMOD_LIBRARY ?= facts placement
KMOD_FACTS = $(KMOD_LIBRARY:%=tests/kmod/machine_%.sh)
KMOD_LEFT_OUT = $(filter-out $(KMOD_OLD) $(KMOD_LIBRARY),four two_old facts \
	placement)

$(BUILD)/tests/kmod/%: tests/kmod/%.c
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ikmod/uapi -D_GNU_SOURCE $(LKDF_CFLAGS) $(LDFLAGS) -MMD -MP \
		$(KMOD_STATIC) -o $@ $< -lpthread

$(KMOD_PROGRAMS) $(KMOD_FUZZ): KMOD_STATIC := -static

.PHONY: check-vm-kmod check-vm-kasan check-vm-kcsan check-vm-fuzz \
	check-kmod-stress
check-vm-kmod: deps $(KMOD_PROGRAMS) $(VM_FACTS) $(LKDF_BIN) \
		$(BUILD)/lkdf-bench ## the kernel module on kernels 6.1 and 6.12
	$(Q)BUILD=$(BUILD) KMOD_GUEST='$(KMOD_PROGRAMS)' TEST_TIMEOUT=900 \
		LEFT_OUT='$(if $(KMOD_LEFT_OUT),the module in the machines \
		$(KMOD_LEFT_OUT): make check-vm-kmod)' \
		tests/run.sh $(KMOD_MATRIX) $(KMOD_FACTS)

.PHONY: check-kernel-newest
check-kernel-newest: ## the kernel module compiles for the newest headers at hand
	$(Q)BUILD=$(BUILD) tests/run.sh tests/kmod/newest.sh

# Kernels that look for errors; the first time they are built.
check-vm-kasan check-vm-kcsan: check-vm-%: $(KMOD_PROGRAMS) $(KMOD_FUZZ)
	$(Q).ci/deps kernel
	$(Q)BUILD=$(BUILD) KMOD_GUEST='$(KMOD_PROGRAMS) $(KMOD_FUZZ)' \
		TEST_TIMEOUT=7200 tests/run.sh tests/kmod/machine_$*.sh

# Minutes: the bars of the calls with any argument and of the migration. What
# they counted is shown.
KMOD_FUZZ_SECONDS ?= 600
KMOD_SNAPSHOTS ?= 1000000
KMOD_SNAPSHOT_SECONDS ?= 900
check-vm-fuzz: $(KMOD_FUZZ) ## calls of /dev/lkdf with any argument, for long
	$(Q).ci/deps kernel
	$(Q)BUILD=$(BUILD) KMOD_GUEST='$(KMOD_FUZZ)' KMOD_KIND=fuzz \
		LKDF_FUZZ_SECONDS=$(KMOD_FUZZ_SECONDS) \
		KMOD_TIMEOUT=$$(($(KMOD_FUZZ_SECONDS) + 2400)) \
		TEST_TIMEOUT=$$(($(KMOD_FUZZ_SECONDS) + 7200)) \
		tests/run.sh tests/kmod/machine_kasan.sh
	$(Q)grep -E '^# (call |[0-9]+ (calls|places))' $(BUILD)/vm/fuzz/output.log

check-kmod-stress: $(BUILD)/tests/kmod/test_migrate ## a million refreshes against migration
	$(Q)BUILD=$(BUILD) KMOD_GUEST='$<' TEST_TIMEOUT=7200 \
		KMOD_TIMEOUT=$$((2 * $(KMOD_SNAPSHOT_SECONDS) + 300)) \
		KMOD_COMMAND='export LKDF_SNAPSHOTS=$(KMOD_SNAPSHOTS) \
		LKDF_SECONDS=$(KMOD_SNAPSHOT_SECONDS) LKDF_WHOLE=1; \
		./guest.sh $$((2 * $(KMOD_SNAPSHOT_SECONDS) + 200)) test_migrate' \
		tests/run.sh tests/kmod/machine_kmod_two_old.sh
	$(Q)grep -E '^# [0-9]+ snapshots' $(BUILD)/vm/kmod_two_old/output.log

.PHONY: bench-node-of bench-vm-place
bench-vm-place: $(LKDF_BIN) $(BUILD)/lkdf-bench ## lkdf bench placement, with the module
	$(Q)BUILD=$(BUILD) PLACEMENT_ARGS='$(BENCH_ARGS)' KMOD_TIMEOUT=1500 \
		tests/kmod/machine_placement.sh

bench-node-of: $(BUILD)/tests/kmod/bench_node_of
	$(Q)$<
