# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Mutants by rule of one file of lib, against the tests of its room.

# The tests that know a room beside those of the folder of its name.
MUTANT_ALSO_base := api/rt
MUTANT_ALSO_core := api/rt
MUTANT_ALSO_data := api/rt/test_order api/report/test_reasons \
	unit/task/test_traced
MUTANT_ALSO_mechanism := api/task unit/sched
MUTANT_ALSO_offload := api/device
MUTANT_ALSO_ring := api/io
MUTANT_ALSO_run := api/graph
MUTANT_ALSO_scope := api/rt/test_order
MUTANT_ALSO_sched := api/task
MUTANT_ALSO_seal := api/graph

# Those that make check-long has: each survivor has a reason in the list. Others are
# for who writes tests.
MUTANT_FILES := lib/data/token.c
MUTANT_SECONDS ?= 1800
MUTANT_ARGS ?=

mutant_room = $(word 2,$(subst /, ,$1))
mutant_sources = $(sort $(foreach t,api/$(call mutant_room,$1) \
	unit/$(call mutant_room,$1) $(MUTANT_ALSO_$(call mutant_room,$1)), \
	$(wildcard tests/$t/test_*.c tests/$t.c)))
mutant_models = $(foreach n,$(MC_NAMES),$(if $(filter $1,$(MC_SRC_$n)), \
	$(BUILD)/tests/mc/mc_$n))
mutant_programs = $(patsubst tests/%.c,$(BUILD)/tests/%, \
	$(call mutant_sources,$1)) $(mutant_models)
mutant_run = BUILD=$(BUILD) MAKE='$(MAKE_COMMAND)' tests/mutants/mutants.py $1 \
	$(call mutant_programs,$1) --seconds $(MUTANT_SECONDS) $(MUTANT_ARGS)

.PHONY: mutants check-mutants
# The commands of make itself say how the file is compiled and linked.
mutants: $(LIB_SO) $(call mutant_programs,$(FILE)) ## which bugs in FILE= no test finds
	$(if $(wildcard $(FILE)),,$(error FILE=lib/ROOM/NAME.c is missing))
	$(Q)$(call mutant_run,$(FILE))

MUTANT_TESTS := $(foreach f,$(MUTANT_FILES), \
	$(BUILD)/mutants/check_$(subst /,_,$(basename $f)))
define mutant_test
$(BUILD)/mutants/check_$(subst /,_,$(basename $1)): $(call mutant_programs,$1)
	$(Q)mkdir -p $$(@D)
	$(Q)printf '#!/bin/sh\nexec %s\n' \
		'$$(MAKE_COMMAND) --no-print-directory -s BUILD=$(BUILD) FILE=$1 mutants' >$$@
	$(Q)chmod +x $$@
endef
$(foreach f,$(MUTANT_FILES),$(eval $(call mutant_test,$f)))
check-mutants: $(LIB_SO) $(MUTANT_TESTS) ## files whose survivors have reasons
	$(Q)BUILD=$(BUILD) TEST_TIMEOUT=$$(($(MUTANT_SECONDS) + 600)) \
		tests/run.sh $(MUTANT_TESTS)
