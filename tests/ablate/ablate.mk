# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What each mechanism of workers, mode of runs and option is worth:
# tests/ablate/ablate.py. Hours in full.

ABLATE_LOOPS := $(BUILD)/tests/ablate/loops
$(ABLATE_LOOPS): tests/ablate/loops.c $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ $< $(LDFLAGS) \
		-L$(BUILD) -llkdf -Wl,-rpath,'$$ORIGIN/../..'

# The words of a list, with a colon between two.
empty :=
colons = $(subst $(empty) $(empty),:,$(strip $1))

ROW ?=
ABLATE_SECONDS ?=
.PHONY: ablate
ablate: $(LKDF_BENCH) $(ORACLE) $(ABLATE_LOOPS) $(if $(ABLATE_SECONDS),,$(MC_PROGRAMS)) ## what each mechanism, mode of runs and option is worth, hours; ROW=gate one, ABLATE_SECONDS=10 quick
	$(Q)BUILD=$(BUILD) ROW=$(ROW) ABLATE_SECONDS=$(ABLATE_SECONDS) \
		ABLATE_MODELS='$(foreach n,$(MC_NAMES),mc_$n=$(call colons,$(MC_SRC_$n)))' \
		tests/ablate/ablate.py
