# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Tests of the module, in the layout of the kernel's own: programs that need
# nothing but the module, static, so that any machine runs them.

KMOD_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/kernel/test_*.c))
KMOD_FUZZ := $(BUILD)/tests/kernel/fuzz_ioctl
# make check boots the first.
KMOD_TESTS := tests/kernel/machine_kmod_two.sh
KMOD_MATRIX := $(KMOD_TESTS) tests/kernel/machine_kmod_four.sh \
	tests/kernel/machine_kmod_two_old.sh

$(BUILD)/tests/kernel/%: tests/kernel/%.c
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ikmod/uapi -D_GNU_SOURCE $(LKDF_CFLAGS) -static -MMD -MP \
		-o $@ $< -lpthread

.PHONY: check-vm-kmod
check-vm-kmod: $(KMOD_PROGRAMS) ## the kernel module on kernels 6.1 and 6.12
	$(Q)BUILD=$(BUILD) KMOD_GUEST='$(KMOD_PROGRAMS)' TEST_TIMEOUT=900 \
		tests/run.sh $(KMOD_MATRIX)
