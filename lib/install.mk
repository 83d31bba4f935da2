# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# make install and uninstall, with the usual DESTDIR, PREFIX and folders. Both
# go through the same lists, so that nothing is left behind.

BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
LIBEXECDIR ?= $(PREFIX)/libexec
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/lkdf
DOCDIR ?= $(PREFIX)/share/doc/lkdf
MANDIR ?= $(PREFIX)/share/man
# Where the two shells look for what belongs to a command.
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
INSTALL ?= install

# Programs of all: they are built before they are installed.
INSTALL_BIN ?= $(LKDF_BIN)
# Programs that are installed if they have been built.
INSTALL_PEERS ?= $(BENCH_PEERS)
INSTALL_HEADERS := $(if $(HAVE_MPI),$(MPI_HEADER)) $(sort $(wildcard lib/include/lkdf/*.h \
	lib/include/lkdf/*.hpp)) kmod/uapi/lkdf_kmod.h
# Written by the tool that was built: empty, if this machine cannot run it.
INSTALL_MAN1 ?= $(if $(IS_NATIVE),$(MAN1))
INSTALL_MAN3 := $(MAN3)
INSTALL_MPI := $(if $(HAVE_MPI),$(MPI_SO))
INSTALL_MAN4 := Documentation/lkdf.4
INSTALL_SCHEMAS := $(sort $(wildcard Documentation/schema/*.json))
SCHEMADIR ?= $(PREFIX)/share/lkdf/schema
# The pages as they are, with their folders: a link leads where it does here.
INSTALL_PAGES := README.md $(sort $(wildcard LICENSES/*)) $(sort $(wildcard $(addprefix \
	Documentation/,*.rst *.png *.svg *.lkdf internals/*.rst)))
INSTALL_EXAMPLES := $(sort $(filter-out %.mk,$(wildcard \
	Documentation/examples/*.* Documentation/examples/*/*.*)))

LIB_NAMES := $(notdir $(LIB_SO) $(MALLOC_SO)) $(MALLOC_SONAME) $(LIB_SONAME) liblkdf.so liblkdf.a \
	$(notdir $(GOMP_SO)) $(GOMP_LINKS) \
	$(if $(HAVE_MPI),$(notdir $(MPI_SO)) $(MPI_LINKS))
PC_FILES := lkdf.pc lkdf-check.pc
PC_SED := -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	-e 's|@URING@|$(URING_LIBS:-l%=lib%)|' \
	-e 's|@RPATH@|$(if $(filter /usr/lib%,$(LIBDIR)),,-Wl$(comma)-rpath$(comma)$(LIBDIR))|'

# From CMAKEDIR to the others, so that an installed tree may be moved.
from_cmake = $(shell realpath -m --relative-to=$(CMAKEDIR) $1)
CMAKE_SED = -e 's|@LIBDIR@|$(call from_cmake,$(LIBDIR))|' \
	-e 's|@INCLUDEDIR@|$(call from_cmake,$(INCLUDEDIR))|' \
	-e 's|@SO@|$(notdir $(LIB_SO))|' -e 's|@SONAME@|$(LIB_SONAME)|' \
	-e 's|@VERSION@|$(VERSION)|' -e 's|@URING@|$(URING_LIBS:-l%=%)|'
CMAKE_FILES := lkdfConfig.cmake lkdfConfigVersion.cmake

.PHONY: install install-strip uninstall
install: $(LIB_SO) $(LIB_A) $(MALLOC_SO) $(GOMP_SO) $(INSTALL_MPI) $(INSTALL_BIN) $(INSTALL_MAN1) \
		$(INSTALL_MAN3) ## to $(DESTDIR)$(PREFIX)
	$(Q)$(INSTALL) -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(PKGCONFIGDIR) \
		$(DESTDIR)$(INCLUDEDIR)/lkdf
	$(Q)$(INSTALL) $(STRIP_LIB) -m 644 $(LIB_SO) $(DESTDIR)$(LIBDIR)
	$(Q)$(INSTALL) $(STRIP_LIB) -m 644 $(MALLOC_SO) \
		$(DESTDIR)$(LIBDIR)/$(MALLOC_SONAME)
	$(Q)ln -sf $(MALLOC_SONAME) $(DESTDIR)$(LIBDIR)/$(notdir $(MALLOC_SO))
	$(Q)ln -sf $(notdir $(LIB_SO)) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	$(Q)ln -sf $(LIB_SONAME) $(DESTDIR)$(LIBDIR)/liblkdf.so
	$(call install_some,644 $(STRIP_LIB),$(GOMP_SO) $(INSTALL_MPI),$(LIBDIR))
	$(Q)cp -d $(addprefix $(BUILD)/,$(GOMP_LINKS)) $(DESTDIR)$(LIBDIR)
	$(Q)$(if $(INSTALL_MPI),cp -d $(addprefix $(BUILD)/,$(MPI_LINKS)) \
		$(DESTDIR)$(LIBDIR))
	$(Q)$(INSTALL) -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)
	$(Q)$(INSTALL) -m 644 $(INSTALL_HEADERS) $(DESTDIR)$(INCLUDEDIR)/lkdf
	$(Q)for f in $(PC_FILES); do \
		sed $(PC_SED) lib/$$f.in >$(DESTDIR)$(PKGCONFIGDIR)/$$f && \
		chmod 644 $(DESTDIR)$(PKGCONFIGDIR)/$$f || exit 1; \
	done
	$(Q)$(INSTALL) -d $(DESTDIR)$(CMAKEDIR)
	$(Q)for f in $(CMAKE_FILES); do \
		sed $(CMAKE_SED) lib/$$f.in >$(DESTDIR)$(CMAKEDIR)/$$f && \
		chmod 644 $(DESTDIR)$(CMAKEDIR)/$$f || exit 1; \
	done
	$(call install_some,755 $(STRIP_LIB),$(INSTALL_BIN),$(BINDIR))
	$(call install_some,755 $(STRIP_LIB),$(wildcard $(INSTALL_PEERS)),$(LIBEXECDIR)/lkdf)
	$(call install_tree,$(INSTALL_PAGES),$(DOCDIR))
	$(call install_tree,$(INSTALL_EXAMPLES),$(DOCDIR))
	$(call install_some,644,$(INSTALL_SCHEMAS),$(SCHEMADIR))
	$(call install_some,644,$(INSTALL_MAN1),$(MANDIR)/man1)
	$(call install_some,644,$(INSTALL_MAN3),$(MANDIR)/man3)
	$(call install_some,644,$(INSTALL_MAN4),$(MANDIR)/man4)
	$(Q)$(INSTALL) -D -m 644 tools/main/completion.bash \
		$(DESTDIR)$(BASHCOMPDIR)/lkdf
	$(Q)$(INSTALL) -D -m 644 tools/main/completion.zsh \
		$(DESTDIR)$(ZSHCOMPDIR)/_lkdf

# $(call install_some,mode,files,folder): nothing where there are no files
install_some = $(if $2,$(Q)$(INSTALL) -d $(DESTDIR)$3 && \
	$(INSTALL) -m $1 $2 $(DESTDIR)$3)

# $(call install_tree,files,folder): each below its own folder
install_tree = $(Q)for f in $1; do \
		$(INSTALL) -d "$(DESTDIR)$2/$$(dirname $$f)" && \
		$(INSTALL) -m 644 $$f "$(DESTDIR)$2/$$f" || exit 1; \
	done

# Without what a debugger needs, a sixth of the bytes
install-strip: STRIP_LIB := -s --strip-program=$(STRIP)
install-strip: install ## the same, stripped

# Folders go that are ours, and those above them up to PREFIX if they are empty, but
# for those of /usr and /usr/local.
uninstall: ## what install has put there
	$(Q)rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(LIB_NAMES)) \
		$(addprefix $(DESTDIR)$(PKGCONFIGDIR)/,$(PC_FILES)) \
		$(addprefix $(DESTDIR)$(CMAKEDIR)/,$(CMAKE_FILES)) \
		$(addprefix $(DESTDIR)$(INCLUDEDIR)/lkdf/,\
			$(notdir $(INSTALL_HEADERS))) \
		$(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(INSTALL_BIN))) \
		$(addprefix $(DESTDIR)$(LIBEXECDIR)/lkdf/,\
			$(notdir $(INSTALL_PEERS))) \
		$(addprefix $(DESTDIR)$(DOCDIR)/,$(INSTALL_PAGES) \
			$(INSTALL_EXAMPLES)) \
		$(addprefix $(DESTDIR)$(SCHEMADIR)/,\
			$(notdir $(INSTALL_SCHEMAS))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(INSTALL_MAN1))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man3/,$(notdir $(INSTALL_MAN3))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man4/,$(notdir $(INSTALL_MAN4))) \
		$(DESTDIR)$(BASHCOMPDIR)/lkdf $(DESTDIR)$(ZSHCOMPDIR)/_lkdf
	$(Q)for d in $(UNINSTALL_DIRS); do \
		[ ! -d $(DESTDIR)$$d ] || \
			rmdir --ignore-fail-on-non-empty $(DESTDIR)$$d; \
	done

# The deepest first: a path sorts before what is below it.
DOC_DIRS := $(sort $(dir $(INSTALL_PAGES) $(INSTALL_EXAMPLES)))
OWN_DIRS := $(CMAKEDIR) $(INCLUDEDIR)/lkdf $(LIBEXECDIR)/lkdf $(SCHEMADIR) \
	$(patsubst %/,%,$(dir $(SCHEMADIR))) $(addprefix $(DOCDIR)/,\
	$(patsubst %/,%,$(DOC_DIRS))) $(DOCDIR)
ALL_DIRS := $(OWN_DIRS) $(BINDIR) $(PKGCONFIGDIR) $(MANDIR)/man1 $(MANDIR)/man3 \
	$(MANDIR)/man4 $(BASHCOMPDIR) $(ZSHCOMPDIR)
reverse = $(if $1,$(call reverse,$(wordlist 2,999,$1)) $(firstword $1))
above = $(if $(filter $(PREFIX)/%,$1),$1 $(call above,$(patsubst %/,%,$(dir $1))))
UNINSTALL_DIRS = $(call reverse,$(sort $(OWN_DIRS) $(if $(filter-out /usr \
	/usr/local,$(PREFIX)),$(foreach d,$(ALL_DIRS),$(call above,$d)) \
	$(PREFIX))))
