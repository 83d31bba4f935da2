# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf: shared with a symbol map, static with its internals localised.

LIB_DIRS := base check mem topo trace ring signal policy opencl cuda sched mechanism \
	$(patsubst lib/%/,%,$(sort $(wildcard lib/mechanism/*/))) device core \
	scope channel data task graph run io offload seal rt api
LIB_SRC := $(foreach d,$(LIB_DIRS),$(wildcard lib/$d/*.c))
ifeq ($(HAVE_URING),1)
LIB_SRC := $(filter-out lib/ring/absent.c,$(LIB_SRC))
URING_LIBS := -luring
else
LIB_SRC := $(filter-out $(addprefix lib/ring/,setup.c tables.c \
	buffers.c fill.c),$(LIB_SRC))
URING_LIBS :=
endif
LIB_SRC := $(filter-out lib/mechanism/%/absent.c $(WITHOUT_SRC),$(LIB_SRC))
LIB_OBJ := $(LIB_SRC:%.c=$(LIB_BUILD)/%.o) $(WITHOUT_OBJ)
LIB_SO := $(BUILD)/liblkdf.so.$(VERSION)
LIB_SONAME := liblkdf.so.$(SOVERSION)
LIB_A := $(BUILD)/liblkdf.a
# The internals visible: for unit tests, the model checker and sanitizers.
LIB_INTERNAL := $(BUILD)/liblkdf-internal.a
LIB_LIBS := -lhwloc -lnuma $(URING_LIBS) -lpthread

# Calls and returns are checked by the CPU where it can: each machine has its
# own name for that.
LIB_PROTECT := $(firstword $(foreach flag,-fcf-protection \
	-mbranch-protection=standard,$(shell $(CC) -Werror $(flag) \
	-fsyntax-only -x c /dev/null 2>/dev/null && echo '$(flag)')))
# With -flto the objects have machine code, too: the archive is made of that, for
# names that only the plugin sees cannot be made local.
LIB_CFLAGS := -fPIC -fvisibility=hidden $(LIB_PROTECT) \
	$(if $(filter -flto%,$(CFLAGS)),-ffat-lto-objects) \
	$(if $(HAVE_SDT),-DHAVE_USDT) \
	$(if $(HAVE_FRAME_POINTERS),$(FRAME_POINTER_FLAGS))

# No object of the library depends on a switch whose part is elsewhere.
LIB_STAMP := $(LIB_BUILD)/flags/lib
$(eval $(call stamp,$(LIB_STAMP),$(CC) $(CPPFLAGS) $(LKDF_CFLAGS) $(LIB_CFLAGS)))
# By names below BUILD, which may be given with or without the path to it.
$(eval $(call stamp,$(STAMPS)/lib-objects,$(patsubst $(LIB_BUILD)/%,%,$(LIB_OBJ))))
LIB_CC = $(CC) $(CPPFLAGS) $(LKDF_CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<
$(LIB_BUILD)/lib/%.o: lib/%.c $(LIB_STAMP)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(LIB_CC)
$(BUILD)/without/%.o: $(BUILD)/without/%.c $(LIB_STAMP)
	$(call say,CC)
	$(Q)$(LIB_CC) -Wno-unused-parameter

$(LIB_SO): $(LIB_OBJ) lib/lkdf.map $(STAMPS)/lib-objects
	$(call say,LD)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=lib/lkdf.map -Wl,-z,nodelete \
		-Wl,-z,relro -Wl,-z,now -Wl,--no-undefined -o $@ \
		$(LIB_OBJ) $(LIB_LIBS)
	$(Q)ln -sf $(@F) $(BUILD)/$(LIB_SONAME)
	$(Q)ln -sf $(@F) $(BUILD)/liblkdf.so

$(LIB_INTERNAL): $(LIB_OBJ) $(STAMPS)/lib-objects
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(LIB_OBJ)

$(LIB_A): $(LIB_OBJ) $(STAMPS)/lib-objects
	$(call say,AR)
	$(Q)$(LD) -r -o $(BUILD)/liblkdf-all.o $(LIB_OBJ)
	$(Q)$(OBJCOPY) --localize-hidden --remove-section='.gnu.lto_*' \
		--remove-section='.gnu.debuglto_*' $(BUILD)/liblkdf-all.o
	$(Q)rm -f $@
	$(Q)$(AR) rcsD $@ $(BUILD)/liblkdf-all.o

# The allocator alone, as the process's malloc: nothing of hwloc, no threads.
MALLOC_SRC := $(wildcard lib/malloc/*.c) lib/base/lock.c lib/base/lock_owner.c \
	lib/base/futex.c \
	lib/base/check.c \
	lib/topo/cpulist.c lib/topo/raw.c $(addprefix lib/mem/,cache.c class.c \
	depot.c heap.c heap_cache.c heap_leaks.c heap_size.c heap_stat.c \
	index.c label.c large.c listing.c memory.c meta.c os.c registry.c)
MALLOC_OBJ := $(MALLOC_SRC:%.c=$(LIB_BUILD)/%.o)
MALLOC_SO := $(BUILD)/liblkdf-malloc.so
MALLOC_SONAME := liblkdf-malloc.so.$(SOVERSION)

$(LIB_BUILD)/lib/malloc/%.o: LIB_CFLAGS += -fno-builtin

$(MALLOC_SO): $(MALLOC_OBJ)
	$(call say,LD)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(MALLOC_SONAME) -Wl,-z,relro \
		-Wl,-z,now -Wl,--no-undefined -o $@ $(MALLOC_OBJ) -lpthread
