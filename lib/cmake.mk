# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What lib/CMakeLists.txt builds: files, flags and libraries are those of make.

CMAKE_OPTIONS := $(filter-out $(FORTIFY),$(filter -f% -m% -D%,$(HARDEN) \
	$(LIB_CFLAGS))) -fexceptions

.PHONY: print-library
print-library: ## for CMake: the library's files, flags and libraries
	@echo 'VERSION $(VERSION)'
	@echo 'SOVERSION $(SOVERSION)'
	@echo 'SOURCES $(LIB_SRC)'
	@echo 'HEADERS $(filter-out $(MPI_HEADER),$(INSTALL_HEADERS))'
	@echo 'INCLUDES $(patsubst -I%,%,$(filter -I%,$(CPPFLAGS)))'
	@echo 'DEFINES $(patsubst -D%,%,$(filter -D%,$(CPPFLAGS)))'
	@echo 'OPTIONS $(CMAKE_OPTIONS)'
	@echo 'LIBRARIES $(LIB_LIBS)'
