# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# For people who change the code: one test in any build, a quick look at all
# before a commit, a build for gdb, and what editors ask for.

.PHONY: debug lint quick check-named check-quick compile_commands.json

# Each sanitizer has the flags and the folder that make check and .ci/run give
# it, so that what they have built is there.
SAN ?=
SAN_thread := -fsanitize=thread
SAN_address := $(ASAN)
SAN_DIR_thread := $(BUILD)/tsan
SAN_DIR_address := $(BUILD)/asan
ifneq ($(SAN),)
ifeq ($(SAN_$(SAN)),)
$(error SAN=$(SAN): a sanitizer is SAN=thread or SAN=address)
endif
SAN_ARGS = CC=gcc BUILD=$(SAN_DIR_$(SAN)) LDFLAGS='$(SAN_$(SAN))' \
	CFLAGS='-O1 -g -fno-omit-frame-pointer $(if $(filter address,$(SAN)), \
	-DLKDF_DEBUG) $(SAN_$(SAN))' TEST_CFLAGS=-Og
endif

# Programs of a sanitizer's build, tests that need no such build, programs that
# run in a machine of QEMU only.
NAMES_SAN = $(UNIT_TESTS) $(API_TESTS) $(ORACLES)
NAMES_PLAIN = $(LINT_TESTS) $(MC_TESTS) $(ORACLE_SELFTEST) $(API_SH_TESTS) \
	$(KMOD_SH_TESTS) $(KMOD_NATIVE) tests/run_selftest.sh \
	tests/vm/selftest.sh $(VM_MATRIX) tests/vm/plugin/test_counter.sh
# The test of that name; if there is none, each whose path contains it.
contains = $(strip $(foreach t,$1,$(if $(findstring $(NAME), \
	$(t:$(BUILD)/%=%)),$t)))
called = $(filter %/$(NAME) %/$(NAME).sh,$1)
named = $(if $(call called,$(ANY_TEST)),$(call called,$1),$(call contains,$1))
ANY_TEST = $(NAMES_SAN) $(if $(findstring -fsanitize,$(CFLAGS)),, \
	$(NAMES_PLAIN) $(VM_PROGRAMS) $(KMOD_PROGRAMS))
NAMED = $(call named,$(filter $(NAMES_SAN) $(NAMES_PLAIN),$(ANY_TEST)))
NAMED_VM = $(call named,$(filter $(VM_PROGRAMS),$(ANY_TEST)))
NAMED_KMOD = $(call named,$(filter $(KMOD_PROGRAMS),$(ANY_TEST)))
NAMED_MACHINE = $(strip $(if $(NAMED_VM),tests/vm/machine_$(VM_SIZE).sh) \
	$(if $(NAMED_KMOD),tests/kmod/machine_kmod_two.sh))

check-named: $(if $(NAME),$(filter $(BUILD)/%,$(NAMED)) $(NAMED_VM) \
		$(NAMED_KMOD) $(if $(filter-out $(BUILD)/%,$(NAMED)) \
		$(NAMED_MACHINE),all $(LIMIT) $(LKDF_BENCH) $(TOUR_PROGRAMS)) \
		$(if $(filter tests/vm/machine%,$(NAMED)),vm-programs))
	$(Q)[ -n '$(strip $(NAMED) $(NAMED_MACHINE))' ] || { echo \
		'NAME=$(NAME): no test$(if $(SAN), of that build) has this in its path' >&2; \
		exit 1; }
	$(Q)$(VM_ENV) $(if $(NAMED_VM),VM_GUEST='$(NAMED_VM)') \
		KMOD_GUEST='$(NAMED_KMOD)' CC=$(CC) MC_SHARE=$(MC_SHARE) \
		MC_SECONDS=$(MC_SECONDS) PLANT_SHARE=$(PLANT_SHARE) \
		ORACLE_BASE=$(ORACLE_BASE) DUPES=$(BUILD)/examples/dupes \
		tests/run.sh $(NAMED) $(NAMED_MACHINE)

# What a commit of any room may break, and each of it fast.
QUICK_API := $(addprefix channel/test_,channel) \
	$(addprefix data/test_data_,order graph reduce parts) \
	$(addprefix device/test_,device_life kernel) \
	$(addprefix graph/test_,graph record static loops branch) \
	$(addprefix io/test_,io io_faults) place/test_place \
	$(addprefix rt/test_,error) \
	$(addprefix scope/test_,cancel deadline event_any scope) \
	$(addprefix task/test_,join limit loop many spawn then)
# A minute of two cores in all: these take more than a few seconds.
QUICK_SLOW := report_lies trace_fuzz seats watchdog
QUICK_TESTS = $(filter-out $(QUICK_SLOW:%=\%/test_%),$(UNIT_TESTS)) \
	$(QUICK_API:%=$(BUILD)/tests/api/%)
quick: ## rules of the tree, unit tests, a core of API tests: before each commit
	$(Q)$(MAKE) $(JOBS) --no-print-directory check-quick

check-quick: $(LKDF_BIN) $(QUICK_TESTS)
	$(Q)BUILD=$(BUILD) CC=$(CC) LINT_CHANGED=1 ASIDE='tests/lint/lint.sh $(filter-out \
		$(ALONE),$(QUICK_TESTS))' tests/run.sh $(filter $(ALONE), \
		$(QUICK_TESTS))

CHECK ?=
lint: ## the rules of the tree, or one: CHECK=ranks.sh
	$(Q)BUILD=$(BUILD) tests/lint/lint.sh $(CHECK)

# -Og sees less of a program: what it warns of is no error.
debug: ## build/debug: for gdb, with what must hold checked
	$(Q)$(MAKE) $(JOBS) --no-print-directory BUILD=$(BUILD)/debug HARDEN= \
		CFLAGS='-Og -g3 -DLKDF_DEBUG -Wno-error' all

# A dry run prints each command, of tests too.
compile_commands.json: ## how each file is compiled, for editors
	$(Q)$(MAKE) --no-print-directory -Bn V=1 all check-programs examples tutorial \
		$(MC_PROGRAMS) $(VM_PROGRAMS) $(KMOD_PROGRAMS) >$@.make
	$(Q)tests/commands.py <$@.make >$@.new
	$(Q)mv $@.new $@
	$(Q)rm $@.make
