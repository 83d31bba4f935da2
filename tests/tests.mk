# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Every test is a program that speaks TAP; tests/run.sh runs and counts them.

UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/unit/test_*.c))
API_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/api/test_*.c))
# Scripts that use the library as a user would.
API_SH_TESTS := $(wildcard tests/api/test_*.sh)

include tests/lint/lint.mk

include tests/bench/bench.mk

# Unit tests may see internals and link the static library.
$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB_INTERNAL)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. $(CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -o $@ $< \
		$(LIB_INTERNAL) $(LIB_LIBS)

# API tests see public headers only and link the shared library.
$(BUILD)/tests/api/%: tests/api/%.c $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP \
		-o $@ $< -L$(BUILD) -llkdf -lpthread -Wl,-rpath,'$$ORIGIN/../..'

include tests/mc/mc.mk
include tests/oracle/oracle.mk
include tests/vm/vm.mk
include tests/vm/plugin/plugin.mk
include tests/bench/numa/numa.mk
include tests/kernel/kernel.mk

.PHONY: check deps
deps: ## install the packages that building and testing need
	$(Q).ci/deps

# The same programs with a sanitizer, of gcc: clang's do not link with
# --no-undefined. They go into the one run that counts.
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN_TESTS = $(patsubst $(BUILD)/%,$(BUILD)/asan/%,$(C_TESTS))
C_TESTS = $(UNIT_TESTS) $(API_TESTS) $(ORACLE)

check: deps ## all tests, at most 15 minutes
	$(Q)$(MAKE) $(JOBS) --no-print-directory CC=gcc BUILD=$(BUILD)/asan \
		CFLAGS='-O1 -g -fno-omit-frame-pointer $(ASAN)' \
		LDFLAGS='$(ASAN)' check-programs
	$(Q)$(MAKE) $(JOBS) --no-print-directory ALSO='$(ASAN_TESTS)' check-built

.PHONY: check-programs
check-programs: $(C_TESTS)

# ALSO: programs of other builds, run with ours. What only computes runs beside
# the others.
ALSO :=

.PHONY: check-built
check-built: all $(UNIT_TESTS) $(API_TESTS) $(MC_TESTS) $(ORACLE_TESTS) \
		$(KMOD_NATIVE) $(if $(VM_TESTS),vm-programs)
	$(Q)$(VM_ENV) CC=$(CC) DUPES=$(BUILD)/examples/dupes \
		ASIDE='$(LINT_TESTS) $(MC_TESTS) $(ORACLE_TESTS)' \
		tests/run.sh tests/run_selftest.sh $(UNIT_TESTS) \
		$(API_TESTS) $(API_SH_TESTS) $(KMOD_SH_TESTS) $(KMOD_NATIVE) \
		tests/vm/selftest.sh $(VM_TESTS) $(ALSO)
