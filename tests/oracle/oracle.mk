# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Random programs against a sequential interpreter; public headers only.

ORACLE_SRC := $(wildcard tests/oracle/*.c)
ORACLE := $(BUILD)/tests/oracle/oracle
SOAK := $(BUILD)/tests/stress/soak
ORACLE_TESTS := $(ORACLE) $(BUILD)/tests/oracle/selftest

$(ORACLE): $(ORACLE_SRC) $(wildcard tests/oracle/*.h) tests/tap.h $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ \
		$(ORACLE_SRC) $(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

# A program without arguments, as tests/run.sh wants it.
$(BUILD)/tests/oracle/selftest: tests/oracle/selftest.sh $(ORACLE)
	$(Q)printf '#!/bin/sh\n%s %s %s %s exec %s\n' "BUILD='$(BUILD)'" \
		"CC='$(CC)'" "CFLAGS='$(CFLAGS)'" "LDFLAGS='$(LDFLAGS)'" \
		tests/oracle/selftest.sh >$@
	$(Q)chmod +x $@

$(SOAK): tests/stress/soak.c tests/tap.h $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ $< \
		$(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

.PHONY: oracle-selftest check-long
oracle-selftest: $(BUILD)/tests/oracle/selftest ## bugs that the oracle must find
	$(Q)tests/run.sh $<

LONG_SECONDS ?= 600
FLAT := $(BUILD)/tests/api/test_flat
check-long: $(ORACLE) $(SOAK) $(FLAT) ## oracle and soak for LONG_SECONDS each
	$(Q)$(ORACLE) --programs 100000000 --seconds $(LONG_SECONDS) \
		--base $$(date +%s)
	$(Q)$(SOAK) $(LONG_SECONDS)
	$(Q)$(FLAT) 100000000
