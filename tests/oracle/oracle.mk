# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Random programs against a sequential interpreter; public headers only.

ORACLE_SRC := $(wildcard tests/oracle/*.c)
ORACLE := $(BUILD)/tests/oracle/oracle
SOAK := $(BUILD)/tests/stress/soak
ORACLE_SELFTEST := $(BUILD)/tests/oracle/selftest

$(ORACLE): $(ORACLE_SRC) $(wildcard tests/oracle/*.h tests/emu/*.h) tests/tap.h \
		$(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ \
		$(ORACLE_SRC) $(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

# The same with devices: programs with data, some of whose tasks are kernels.
DEVICE_ORACLE := $(BUILD)/tests/oracle/devices/oracle

$(DEVICE_ORACLE): $(ORACLE_SRC) $(wildcard tests/oracle/*.h tests/emu/*.h) \
		tests/api/api.h tests/tap.h $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE -DORACLE_DEVICES \
		$(LKDF_CFLAGS) -o $@ $(ORACLE_SRC) $(LDFLAGS) -L$(BUILD) \
		-llkdf -lpthread -Wl,-rpath,'$$ORIGIN/../../..'

# The same on the devices of POCL.
OPENCL_ORACLE := $(BUILD)/tests/oracle/opencl/oracle

$(OPENCL_ORACLE): $(DEVICE_ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --devices 2 --programs 500 --seconds 10 "$$@"\n' \
		$< >$@
	$(Q)chmod +x $@

# The same on the driver of CUDA for tests.
CUDA_ORACLE := $(BUILD)/tests/oracle/cuda/oracle

$(CUDA_ORACLE): $(DEVICE_ORACLE) | $(FAKE_LIBS)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nLKDF_TEST_DEVICE=cuda exec %s --devices 2 \
		--programs 60 --seconds 5 "$$@"\n' $< >$@
	$(Q)chmod +x $@

# More workers than CPUs, of which most sleep, and some run for those in joins.
MANY_ORACLE := $(BUILD)/tests/oracle/many/oracle

$(MANY_ORACLE): $(ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --programs 200 --workers 16 \
		--substitutes 3 "$$@"\n' $< >$@
	$(Q)chmod +x $@

# All kinds are at gates.
NARROW_ORACLE := $(BUILD)/tests/oracle/narrow/oracle

$(NARROW_ORACLE): $(ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --programs 400 --seconds 3 --narrow 1 "$$@"\n' \
		$< >$@
	$(Q)chmod +x $@

# Each program in five orders of one thread, which its seed chooses.
ORDERS_ORACLE := $(BUILD)/tests/oracle/orders/oracle

$(ORDERS_ORACLE): $(ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --programs 200 --orders 5 --seconds 10 "$$@"\n' \
		$< >$@
	$(Q)chmod +x $@

DEVICE_ORDERS_ORACLE := $(BUILD)/tests/oracle/devices/orders/oracle

$(DEVICE_ORDERS_ORACLE): $(DEVICE_ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --programs 60 --orders 3 --seconds 5 "$$@"\n' \
		$< >$@
	$(Q)chmod +x $@

# A program without arguments, as tests/run.sh wants it.
DEVICE_MUTANTS := $(BUILD)/tests/oracle/device_mutants
$(ORACLE_SELFTEST) $(DEVICE_MUTANTS): $(BUILD)/%: %.sh tests/oracle/plant.sh \
		$(ORACLE) $(DEVICE_ORACLE)
	$(Q)printf '#!/bin/sh\n%s %s %s %s exec %s\n' "BUILD='$(BUILD)'" \
		"CC='$(CC)'" "CFLAGS='$(CFLAGS)'" "LDFLAGS='$(LDFLAGS)'" \
		$< >$@
	$(Q)chmod +x $@

$(SOAK): tests/stress/soak.c tests/tap.h $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ $< \
		$(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

# Bugs of the selftest whose turn it is.
PLANT_SHARE ?= $(shell tests/turn.sh 4 0/4 0/4 1/4 2/4 3/4)

.PHONY: oracle-selftest device-mutants check-oracle-long
oracle-selftest: $(ORACLE_SELFTEST) ## bugs that the oracle must find
	$(Q)BUILD=$(BUILD) tests/run.sh $<
device-mutants: $(DEVICE_MUTANTS) ## orders of devices that it must find
	$(Q)BUILD=$(BUILD) tests/run.sh $<

LONG_SECONDS ?= 600
FLAT := $(BUILD)/tests/api/graph/test_flat
check-oracle-long: $(ORACLE) $(DEVICE_ORACLE) $(SOAK) $(FLAT) \
		$(DEVICE_MUTANTS)
	$(Q)printf '#!/bin/sh\nexec %s --programs 100000000 --seconds %s --base %s\n' \
		$(ORACLE) $(LONG_SECONDS) $$(date +%s) >$(ORACLE)_long
	$(Q)mkdir -p $(dir $(ORDERS_ORACLE))
	$(Q)printf '#!/bin/sh\nexec %s --programs 100000000 --orders 20 --seconds %s --base %s\n' \
		$(ORACLE) $(LONG_SECONDS) $$(date +%s) >$(ORDERS_ORACLE)_long
	$(Q)printf '#!/bin/sh\nexec %s --programs 100000000 --seconds %s --base %s\n' \
		$(DEVICE_ORACLE) $(LONG_SECONDS) $$(date +%s) >$(DEVICE_ORACLE)_long
	$(Q)printf '#!/bin/sh\nexec %s %s\n' $(SOAK) $(LONG_SECONDS) >$(SOAK)_long
	$(Q)printf '#!/bin/sh\nexec %s 100000000\n' $(FLAT) >$(FLAT)_long
	$(Q)chmod +x $(ORACLE)_long $(ORDERS_ORACLE)_long $(DEVICE_ORACLE)_long \
		$(SOAK)_long $(FLAT)_long
	$(Q)BUILD=$(BUILD) TEST_TIMEOUT=$$(($(LONG_SECONDS) + 1500)) \
		tests/run.sh $(ORACLE)_long $(ORDERS_ORACLE)_long \
		$(DEVICE_ORACLE)_long $(SOAK)_long $(FLAT)_long $(DEVICE_MUTANTS)

# Graphs with branches and loops against a model of their own.
CONTROL_SRC := $(wildcard tests/oracle/control/*.c)
CONTROL_ORACLE := $(BUILD)/tests/oracle/control/control

$(CONTROL_ORACLE): $(CONTROL_SRC) $(wildcard tests/oracle/control/*.h) \
		tests/oracle/random.h tests/tap.h $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ \
		$(CONTROL_SRC) $(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../../..'

CONTROL_ORDERS_ORACLE := $(BUILD)/tests/oracle/control/orders/control

$(CONTROL_ORDERS_ORACLE): $(CONTROL_ORACLE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s --programs 200 --orders 5 "$$@"\n' $< >$@
	$(Q)chmod +x $@

ORACLES := $(ORACLE) $(MANY_ORACLE) $(NARROW_ORACLE) $(ORDERS_ORACLE) $(DEVICE_ORACLE) $(OPENCL_ORACLE) \
	$(CUDA_ORACLE) $(CONTROL_ORACLE) $(CONTROL_ORDERS_ORACLE) \
	$(DEVICE_ORDERS_ORACLE)

# Each commit has programs of its own, and others with clang; without git they are
# always the same.
ORACLE_BASE ?= $(shell hex=$$(git rev-parse -q --verify --short=7 HEAD \
	2>/dev/null | cut -c 1-7); echo "0x$${hex:-0}$(if $(findstring \
	clang,$(CC)),8,0)001")
