# SPDX-License-Identifier: GPL-2.0-only
# The kernel module, built for the headers in KDIR out of a copy of the sources
# under BUILD, so that the tree stays clean.

KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_SRC := Kbuild $(wildcard kmod/Kbuild kmod/Kconfig kmod/*.[ch] kmod/uapi/*.h)
# One directory for each set of headers.
KMOD_DIR = $(BUILD)/kmod/$(notdir $(patsubst %/,%,$(KDIR)))
# Further words for the kernel's make: W=1 C=2 LKDF_KCOV=1
KMOD_ARGS ?=
# Type information of modules is made by pahole only.
KMOD_BTF = $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

.PHONY: kmod install-dkms
kmod: ## the kernel module lkdf.ko, KDIR= headers of the kernel
	$(Q)[ -f '$(KDIR)/Makefile' ] || { \
		echo 'no kernel headers at $(KDIR): set KDIR=' >&2; exit 1; }
	$(Q)mkdir -p $(KMOD_DIR)
	$(Q)cp -u --parents $(KMOD_SRC) $(KMOD_DIR)
	$(Q)$(MAKE) --no-print-directory -C $(KDIR) \
		M=$(abspath $(KMOD_DIR)) $(KMOD_BTF) $(KMOD_ARGS) modules

# Sources for DKMS and the files of a system that has the module; what is to be
# done then stands in Documentation/kmod.rst.
KMOD_ROOT := $(DESTDIR)/usr/src/lkdf-$(VERSION)
install-dkms: ## sources for DKMS, udev rule, group, loading at boot
	$(Q)mkdir -p $(KMOD_ROOT)
	$(Q)cp --parents $(KMOD_SRC) $(KMOD_ROOT)
	$(Q)sed 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="$(VERSION)"/' \
		kmod/dkms.conf >$(KMOD_ROOT)/dkms.conf
	$(Q)install -D -m 644 kmod/etc/udev.rules \
		$(DESTDIR)/usr/lib/udev/rules.d/60-lkdf.rules
	$(Q)install -D -m 644 kmod/etc/sysusers.conf \
		$(DESTDIR)/usr/lib/sysusers.d/lkdf.conf
	$(Q)install -D -m 644 kmod/etc/modules-load.conf \
		$(DESTDIR)/usr/lib/modules-load.d/lkdf.conf
	$(Q)install -D -m 644 kmod/etc/modprobe.conf \
		$(DESTDIR)/usr/lib/modprobe.d/lkdf.conf
