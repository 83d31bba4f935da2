# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf-mpi: a library beside liblkdf, for the MPI that pkg-config finds.

# The system's own; MPI_PKG=mpich and MPI_PKG=ompi-c build beside it for another.
MPI_PKG ?= mpi-c
MPI_BUILD := $(BUILD)$(if $(filter mpi-c,$(MPI_PKG)),,/$(MPI_PKG))
MPI_SO := $(MPI_BUILD)/liblkdf-mpi.so.$(VERSION)
MPI_SONAME := liblkdf-mpi.so.$(SOVERSION)
MPI_LINKS := $(MPI_SONAME) liblkdf-mpi.so
MPI_HEADER := lib/mpi/include/lkdf/mpi.h
MPI_FLAGS = $(shell pkg-config --cflags $(MPI_PKG))
MPI_LIBS = $(shell pkg-config --libs $(MPI_PKG))

$(MPI_BUILD)/lib/mpi/%.o: lib/mpi/%.c $(LIB_STAMP)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Ilib/mpi/include $(MPI_FLAGS) $(LKDF_CFLAGS) \
		$(LIB_CFLAGS) -MMD -MP -c -o $@ $<

$(MPI_SO): $(patsubst %.c,$(MPI_BUILD)/%.o,$(wildcard lib/mpi/*.c)) $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(MPI_SONAME) -Wl,-z,relro \
		-Wl,-z,now -Wl,--no-undefined -o $@ $(filter %.o,$^) \
		-L$(BUILD) -llkdf $(MPI_LIBS) -lpthread
	$(Q)for l in $(MPI_LINKS); do ln -sf $(@F) $(MPI_BUILD)/$$l; done

ifeq ($(HAVE_MPI),1)
all: $(MPI_SO)
endif

# Programs of several ranks: tests/tools/test_mpi.sh runs them. Examples have
# lkdf/mpi.h where make install puts it.
MPI_PROGRAM = $(CC) -Ilib/include -Ilib/mpi/include $(MPI_FLAGS) \
	$(LKDF_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -L$(MPI_BUILD) -L$(BUILD) \
	-llkdf-mpi -llkdf $(MPI_LIBS) \
	-Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..:$$ORIGIN/../../..'
$(MPI_BUILD)/tests/mpi/ranks: $(wildcard tests/mpi/*.c) $(MPI_SO) tests/mpi/ranks.h
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(MPI_PROGRAM) -I. -D_GNU_SOURCE

$(addprefix $(MPI_BUILD)/examples/,halo hand_out): $(MPI_BUILD)/examples/%: \
		Documentation/examples/mpi/%.c $(MPI_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(MPI_PROGRAM)
