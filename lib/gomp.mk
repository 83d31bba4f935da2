# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf-gomp: a library beside liblkdf that comes before libgomp.

GOMP_SO := $(BUILD)/liblkdf-gomp.so.$(VERSION)
GOMP_SONAME := liblkdf-gomp.so.$(SOVERSION)
GOMP_LINKS := $(GOMP_SONAME) liblkdf-gomp.so
GOMP_OBJ := $(patsubst %.c,$(LIB_BUILD)/%.o,$(wildcard lib/gomp/*.c)) \
	$(addprefix $(LIB_BUILD)/lib/base/,lock.o lock_owner.o futex.o check.o)

# gomp.map names what is seen; an old version of a name has another in C, which .symver
# says in assembly: -flto would put it into another file than the function.
$(LIB_BUILD)/lib/gomp/%.o: LIB_CFLAGS += -fvisibility=default -fno-lto

$(GOMP_SO): $(GOMP_OBJ) lib/gomp/gomp.map $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(GOMP_SONAME) -Wl,-z,relro \
		-Wl,-z,now -Wl,--no-undefined \
		-Wl,--version-script=lib/gomp/gomp.map -o $@ $(GOMP_OBJ) \
		-L$(BUILD) -llkdf -lpthread \
		$(if $(RPATH),-Wl$(comma)-rpath$(comma)'$$ORIGIN')
	$(Q)for l in $(GOMP_LINKS); do ln -sf $(@F) $(BUILD)/$$l; done

.PHONY: gomp
gomp: $(GOMP_SO)
all: gomp
