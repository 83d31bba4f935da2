# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A libcuda.so.1 and a libnvrtc.so for tests without a card: FAKE_CUDA is their
# folder; programs find them by the options cuda_library and nvrtc_library.

FAKE_CUDA := $(BUILD)/tests/cuda
FAKE_DRIVER := $(FAKE_CUDA)/libcuda.so.1
FAKE_NVRTC := $(FAKE_CUDA)/libnvrtc.so
# Libraries that are no driver, or one too old.
FAKE_OTHERS := $(patsubst tests/cuda/others/%.c,$(FAKE_CUDA)/libcuda_%.so,\
	$(wildcard tests/cuda/others/*.c))
FAKE_LIBS := $(FAKE_DRIVER) $(FAKE_NVRTC) $(FAKE_OTHERS)

FAKE_NVRTC_SRC := $(addprefix tests/cuda/fake/,nvrtc.c nvrtc_arch.c \
	scan.c)
FAKE_DRIVER_SRC := $(filter-out $(FAKE_NVRTC_SRC) tests/cuda/fake/fiber.c,\
	$(wildcard tests/cuda/fake/*.c))
FAKE_FLAGS = -I. -D_GNU_SOURCE $(LKDF_CFLAGS) -fPIC -fvisibility=hidden

fake_obj = $(patsubst tests/cuda/fake/%.c,$(FAKE_CUDA)/fake/%.o,$1)

$(FAKE_CUDA)/fake/%.o: tests/cuda/fake/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FAKE_FLAGS) -MMD -MP -c -o $@ $<

# Stacks of fibers are none that a sanitizer knows. clang's __builtin_setjmp()
# keeps no registers: they are gcc's in any build.
$(FAKE_CUDA)/fake/fiber.o: FAKE_FLAGS += -fno-sanitize=all
$(FAKE_CUDA)/fake/fiber.o: override CC := gcc
$(FAKE_CUDA)/fake/nvrtc.o: FAKE_FLAGS += -DFAKE_CXX='"$(CXX)"'
$(FAKE_CUDA)/fake/nvrtc.o: tests/cuda/fake/kernel.h tests/cuda/fake/prelude.hpp

# It stays loaded: its streams have threads.
$(FAKE_DRIVER): $(call fake_obj,$(FAKE_DRIVER_SRC) tests/cuda/fake/fiber.c)
	$(call say,LD)
	$(Q)$(CC) -shared $(LKDF_CFLAGS) $(LDFLAGS) -Wl,-z,nodelete \
		-Wl,-soname,libcuda.so.1 -o $@ $^ -ldl -lpthread

$(FAKE_NVRTC): $(call fake_obj,$(FAKE_NVRTC_SRC))
	$(call say,LD)
	$(Q)$(CC) -shared $(LKDF_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl

$(FAKE_OTHERS): $(FAKE_CUDA)/libcuda_%.so: tests/cuda/others/%.c
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(FAKE_FLAGS) -MMD -MP -o $@ $< $(LDFLAGS)

# What a driver does, call by call.
CONFORMANCE := $(FAKE_CUDA)/cuda-conformance
CONFORMANCE_OBJ := $(patsubst tests/cuda/%.c,$(FAKE_CUDA)/%.o,\
	$(wildcard tests/cuda/conformance/*.c))

$(FAKE_CUDA)/conformance/%.o: tests/cuda/conformance/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TEST_FLAGS) -c -o $@ $<

$(CONFORMANCE): $(CONFORMANCE_OBJ)
	$(call say,LD)
	$(Q)$(CC) $(LKDF_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl -lpthread

.PHONY: fake-cuda
fake-cuda: $(FAKE_LIBS) ## libcuda.so.1 and libnvrtc.so for tests without a card

-include $(wildcard $(BUILD)/tests/gpu/*.d $(FAKE_CUDA)/*.d $(FAKE_CUDA)/fake/*.d \
	$(FAKE_CUDA)/conformance/*.d)

# They load it while they run.
$(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/api/cuda/test_*.c)): \
	| $(FAKE_LIBS) $(CONFORMANCE)
$(BUILD)/tests/unit/cuda/test_nvrtc_find: | $(FAKE_NVRTC)

# The prototypes are compared with the toolkit's.
HAVE_CUDA_TYPEDEFS := $(if $(CUDA_HOME),$(wildcard \
	$(CUDA_HOME)/include/cudaTypedefs.h))
$(BUILD)/tests/api/cuda/test_fake_calls: LKDF_CFLAGS += \
	$(if $(HAVE_CUDA_TYPEDEFS),-DHAVE_CUDA_TYPEDEFS -isystem \
	$(CUDA_HOME)/include)

# The tests of devices once more, on the driver for tests: those that ask the
# driver, without what they do on the emulated device.
CUDA_DEVICE := $(patsubst tests/api/%.c,$(FAKE_CUDA)/%,$(shell grep -l \
	'device_each\|device_driver\|driver_options' tests/api/device/test_*.c))
$(CUDA_DEVICE): $(FAKE_CUDA)/%: $(BUILD)/tests/api/% | $(FAKE_LIBS)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nLKDF_TEST_DEVICE=cuda LKDF_TEST_EMULATED=no \
		exec %s "$$@"\n' $< >$@
	$(Q)chmod +x $@

# Those that make check runs: the others differ in what the core does.
CUDA_CHECK := $(filter $(addprefix %/test_,kernel_ports kernel_loop \
	kernel_memory region within),$(CUDA_DEVICE))

# The same on drivers and cards other than the one that was recorded, by words
# of FAKE_CUDA_LIKE (tests/cuda/fake/like.c) that are devices.
CUDA_LIKES := at_once current no_pools old sm_100
CUDA_LIKE := $(foreach w,$(CUDA_LIKES),\
	$(CUDA_DEVICE:$(FAKE_CUDA)/%=$(FAKE_CUDA)/like/$w/%))
$(CUDA_LIKE): $(FAKE_CUDA)/like/%:
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nFAKE_CUDA_LIKE=%s exec %s "$$@"\n' \
		$(firstword $(subst /, ,$*)) \
		$(FAKE_CUDA)/$(patsubst $(firstword $(subst /, ,$*))/%,%,$*) >$@
	$(Q)chmod +x $@
$(CUDA_LIKE): | $(CUDA_DEVICE)

# What is replayed, once more where each kernel is done when its launch returns;
# and the program's own code of CUDA beside the library's, with each word.
CUDA_GRAPHS := $(addprefix $(FAKE_CUDA)/like/at_once/cuda/test_cuda_, \
	graphs random replay)
CUDA_GUESTS := $(foreach w,$(CUDA_LIKES),\
	$(FAKE_CUDA)/like/$w/cuda/test_cuda_guest)
$(CUDA_GRAPHS) $(CUDA_GUESTS): $(FAKE_CUDA)/like/%: \
	| $(addprefix $(BUILD)/tests/api/cuda/test_cuda_, \
	graphs random replay guest)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nFAKE_CUDA_LIKE=%s exec %s "$$@"\n' \
		$(firstword $(subst /, ,$*)) \
		$(BUILD)/tests/api/cuda/$(@F) >$@
	$(Q)chmod +x $@

# make check has one for each word.
CUDA_CHECK += $(CUDA_GRAPHS) $(CUDA_GUESTS) $(addprefix $(FAKE_CUDA)/like/, \
	at_once/device/test_within current/device/test_region \
	no_pools/device/test_kernel_memory old/device/test_region \
	sm_100/device/test_within)

.PHONY: check-cuda gpu-pack
check-cuda: $(CUDA_DEVICE) $(CUDA_LIKE) $(CUDA_GRAPHS) $(CUDA_GUESTS) ## tests of devices on drivers of CUDA for tests
	$(Q)tests/run.sh $(CUDA_DEVICE) $(CUDA_LIKE) $(CUDA_GRAPHS) $(CUDA_GUESTS)

# Texts that the compiler for tests has compiled, compiled by NVRTC.
GPU_FILL := $(BUILD)/tests/gpu/fill
$(GPU_FILL): tests/gpu/fill.c $(LIB_INTERNAL)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP \
		-o $@ $< $(LIB_INTERNAL) $(LDFLAGS) $(LIB_LIBS)

# All that a machine with a card is to run.
GPU_NEEDS = $(GPU_FILL) $(LKDF_BIN) $(LKDF_BENCH) $(patsubst tests/%.c,$(BUILD)/tests/%,$(shell grep -lE \
	'device_each|device_driver|driver_options|opencl_env' tests/api/device/test_*.c) \
	$(wildcard tests/api/cuda/test_*.c)) $(DEVICE_ORACLE) $(CONFORMANCE) \
	$(FAKE_LIBS) $(BUILD)/examples/hooks_count.so
gpu-pack: $(GPU_NEEDS) ## .gpu/, for a machine with a card: ./on_device.sh OUT
	$(Q)BUILD=$(BUILD) CUDA_HOME=$(CUDA_HOME) tests/gpu/pack.sh
