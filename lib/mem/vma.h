/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The mappings of a process from /proc/PID/maps: where each begins and ends,
 * which numa_maps does not say, and its name. A mapping in the kernel's half of
 * the address space (vsyscall) is left out: it is no memory of the process.
 */
#ifndef MEM_VMA_H
#define MEM_VMA_H

#include <stddef.h>
#include <stdint.h>

struct vma {
	uint64_t start, end;
	size_t name; /* offset into names; "" is anonymous */
};

struct vma_list {
	struct vma *v; /* ascending */
	size_t nr, room;
	char *names;
	size_t names_used, names_room;
};

/* *name points into the line. Return: 0; -EBADMSG: no line of maps. */
int vma_parse(const char *line, struct vma *out, const char **name);

/*
 * Those that overlap start .. end; proc_root NULL: "/proc". The list is empty
 * at first and the caller's vma_fini() frees it, also after an error. If the
 * kernel lists a mapping twice because it changes during the read, the later
 * line counts. Mappings in the list never overlap.
 * Return: 0; -EBADMSG; -ENOMEM; -errno of the file.
 */
int vma_read(const char *proc_root, int32_t pid, uint64_t start, uint64_t end,
	     struct vma_list *list);

/* A mapping made by hand, for tests and where maps cannot be read. */
int vma_add(struct vma_list *list, uint64_t start, uint64_t end,
	    const char *name);

void vma_fini(struct vma_list *list);

#endif
