# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf-mpi: a library beside liblkdf, for the MPI that pkg-config finds.

MPI_SO := $(BUILD)/liblkdf-mpi.so.$(VERSION)
MPI_SONAME := liblkdf-mpi.so.$(SOVERSION)
MPI_LINKS := $(MPI_SONAME) liblkdf-mpi.so
MPI_HEADER := lib/mpi/include/lkdf/mpi.h
MPI_FLAGS = $(shell pkg-config --cflags mpi-c)
MPI_LIBS = $(shell pkg-config --libs mpi-c)

$(BUILD)/lib/mpi/%.o: lib/mpi/%.c $(CONFIG)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Ilib/mpi/include $(MPI_FLAGS) $(LKDF_CFLAGS) \
		$(LIB_CFLAGS) -MMD -MP -c -o $@ $<

$(MPI_SO): $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/mpi/*.c)) $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(MPI_SONAME) -Wl,-z,relro \
		-Wl,-z,now -Wl,--no-undefined -o $@ $(filter %.o,$^) \
		-L$(BUILD) -llkdf $(MPI_LIBS) -lpthread
	$(Q)for l in $(MPI_LINKS); do ln -sf $(@F) $(BUILD)/$$l; done

ifeq ($(HAVE_MPI),1)
all: $(MPI_SO)
endif

# Its test: tests/tools/test_mpi.sh runs it with several ranks.
MPI_RANKS := $(BUILD)/tests/mpi/ranks
$(MPI_RANKS): tests/mpi/ranks.c $(MPI_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Ilib/mpi/include $(MPI_FLAGS) $(LKDF_CFLAGS) \
		$(LDFLAGS) -o $@ $< -L$(BUILD) -llkdf-mpi -llkdf $(MPI_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../..'

# Its example; lkdf/mpi.h is where make install puts it.
MPI_HALO := $(BUILD)/examples/halo
$(MPI_HALO): Documentation/examples/mpi/halo.c $(MPI_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -Ilib/mpi/include $(MPI_FLAGS) $(LKDF_CFLAGS) \
		$(LDFLAGS) -o $@ $< -L$(BUILD) -llkdf-mpi -llkdf $(MPI_LIBS) \
		-Wl,-rpath,'$$ORIGIN/..'
