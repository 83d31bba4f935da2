/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program in the machine and the access counter agree on. The counter
 * sees addresses, no values, so a message is a store to a word whose place
 * says it: the first 256 words are the bytes of a text, the others are marks.
 * Lines of text, each ended by a newline:
 *
 * cpu C N            the vCPU that says this is the guest's CPU C on node N
 * memory N FROM TO   node N has these guest-physical addresses
 * page ADDR          the next access of this vCPU to the arena or the heap
 *                    goes to a page at this guest-physical address
 * map                write the map learnt so far to the report
 * range NAME FROM TO count these virtual addresses under that name, too
 * ranges             forget all ranges
 * label TEXT         a new section of the report; note TEXT is copied into it
 */
#ifndef TESTS_VM_PLUGIN_CONTROL_H
#define TESTS_VM_PLUGIN_CONTROL_H

#define CONTROL_AT 0x0f0000000000ull
#define CONTROL_SIZE 0x1000ull
#define ARENA_AT 0x100000000000ull
#define ARENA_SIZE 0x010000000000ull
/* Where the allocator of a library is made to map: behind the arena. */
#define HEAP_AT (ARENA_AT + ARENA_SIZE)
#define HEAP_SIZE 0x010000000000ull
#define USER_END 0x800000000000ull

#define CONTROL_MAX_NODES 16

enum control_word {
	CONTROL_START = 256, /* count from here */
	CONTROL_STOP, /* write what was counted since */
	CONTROL_ENTER, /* a body begins on this vCPU */
	CONTROL_LEAVE, /* and ends */
	CONTROL_VERIFIED, /* write how many pages were on their node */
	CONTROL_VERIFY, /* + N: pages touched next are on node N */
	CONTROL_END = CONTROL_VERIFY + CONTROL_MAX_NODES,
};

#endif
