/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * /dev/lkdf: on which NUMA nodes the pages of a process are.
 *
 * An open file describes one address space: the one that called SETUP. The
 * owner adds regions; the kernel keeps, for each block of a region, one 16-bit
 * word in a mapping that user space can only read. A word names the node of the
 * block and says whether a page of it moved since. Node numbers are all that
 * can be learned: no frame number, nothing about other processes. No page is
 * pinned and no page is faulted in.
 *
 * ## Calls
 *
 * Every struct starts with size and flags. size is sizeof(struct) as the
 * caller was compiled. A longer one is taken if what the kernel does not know
 * is zero (-E2BIG otherwise), a shorter one if it holds version 1 (-EINVAL
 * otherwise). Unknown flags and reserved words that are not zero: -EINVAL.
 * Fields marked "out" are ignored on the way in. Nothing is written back by a
 * call that fails. Unknown calls: -ENOTTY. A bad pointer: -EFAULT; SETUP and
 * ADD whose answer cannot be written have done nothing.
 *
 * LKDF_KMOD_INFO     versions, features and limits. Works on any open file.
 * LKDF_KMOD_SETUP    binds the file to the caller's address space and makes
 *    the map: nr_regions 1 .. max_regions, nr_blocks 1 .. max_blocks. Memory
 *    is charged to RLIMIT_MEMLOCK of the owner until the file and all of its
 *    mappings are gone.
 *    -EINVAL a number is 0 or too large; -EBUSY done before; -ENOMEM no
 *    memory, or the limit is reached; -EINTR a signal came while the process
 *    was stopped for its first notifier: call again.
 * LKDF_KMOD_ADD      watches [addr, addr + len), both multiples of the page
 *    size; blocks of 1 << block_shift bytes count from addr, the last may be
 *    short. Takes the blocks rounded up to LKDF_MAP_BLOCK_ALIGN. All blocks
 *    start as STALE | EMPTY. cookie is the caller's and comes back in the map.
 *    -EINVAL alignment, shift or range; -E2BIG len over max_region_bytes;
 *    -ENOSPC no free region or blocks; -EEXIST overlaps a region of this
 *    file; -EDQUOT the user has too many regions; -EPERM another address
 *    space; -ENXIO no SETUP; -ENOMEM no memory; -EINTR killed.
 * LKDF_KMOD_DEL      ends the region id; the other fields are not looked at.
 *    -ENOENT no such region; -EPERM another address space; -ENXIO no SETUP.
 * LKDF_KMOD_REFRESH  looks at blocks of region id, from resume_block on, and
 *    writes their words. With STALE_ONLY it skips blocks that are neither
 *    STALE nor PARTIAL nor EMPTY. It stops after max_blocks blocks (0: no such
 *    limit) and after about max_pages pages of INFO, and sets resume_block to
 *    the first block not dealt with; equal to nr_blocks of the region: done.
 *    Any holder of the file may call it; the owner pays for the map, the
 *    caller for the time.
 *    -ENOENT no such region; -EINVAL resume_block is past the end; -ESRCH the
 *    address space is gone; -EAGAIN pages move faster than they can be looked
 *    at, try later; -EINTR killed; -ENXIO no SETUP.
 * LKDF_KMOD_QUERY    counts the pages of [addr, addr + len) of the caller's
 *    own address space, once, without SETUP. It stops after about max_pages
 *    pages and says in done how many bytes it looked at. counts_ptr points to
 *    nr_counts >= nr_nodes 64-bit words, or both are 0.
 *    -EINVAL alignment, range or nr_counts; -E2BIG len over max_region_bytes;
 *    -ENOMEM no memory; -EAGAIN as above; -EINTR as SETUP.
 *
 * open() fails with -EDQUOT when the user has too many files open here.
 *
 * poll() says EPOLLIN while any region has STALE blocks, and EPOLLHUP once the
 * address space is gone. A waiter is woken when a region that had no stale
 * block gets one. PARTIAL and EMPTY blocks do not make the file readable.
 *
 * read(), write() and lseek() do not exist.
 *
 * ## The map
 *
 * mmap(MAP_SHARED, PROT_READ) from offset 0, at most the bytes that SETUP
 * returned, rounded up to pages; it can never be made writable (-EPERM to
 * mmap, -EACCES to mprotect), is not inherited by fork, which MADV_DOFORK does
 * not change (-EINVAL), and not in core dumps.
 *
 *	lkdf_map_header                    at 0
 *	lkdf_map_desc of region i          at desc_off + i * desc_stride
 *	__u16 words of all regions         at blocks_off; those of region i at
 *	                                   lkdf_map_desc.blocks_off
 *
 * The kernel is the only writer. All words are naturally aligned and written
 * in one piece.
 *
 * Word of a block: bits 0 to 9 are the node with most of its present pages,
 * the lowest if several have as many; 0 when EMPTY.
 *	STALE    a page of the block may have moved or gone after the kernel
 *	         looked; the node is the former one, mostly a good guess
 *	EMPTY    no page was present: nothing touched, swapped out, in
 *	         migration, or hinted: AutoNUMA had taken access away to see who
 *	         uses it
 *	PARTIAL  some pages were present, some were not
 *	MIXED    pages on several nodes
 *	HUGE     all present pages were mapped by huge pages
 *
 * The kernel does NOT announce the first touch of a page, and the end of a
 * migration. Therefore EMPTY and PARTIAL are never final: REFRESH always looks
 * at them again, and who wants to know asks again after a pause that grows. A
 * block is settled when it is neither STALE nor EMPTY nor PARTIAL: every page
 * that leaves such a block is announced, by STALE, before it leaves.
 *
 * An event that covers more than LKDF_MAP_MARK_MAX blocks of a region sets its
 * word all_stale instead of the words of the blocks. So:
 *
 *	hint     node = words[(addr - start) >> block_shift] & NODE; one load,
 *	         no branch; right or recently right
 *	fact     all_stale == 0 (load with acquire), then the word is settled;
 *	         [map.all] below
 *
 * gen counts the events of the region that made a block STALE; snap_gen is
 * the gen that the counts belong to. gen == snap_gen means that no block is
 * STALE. A histogram is exact if they are equal and absent == 0.
 *
 * ## Who writes what, and which barrier pairs with which
 *
 * [map.gen]  kernel: STALE marks, all_stale, then gen with release. Reader:
 *            gen with acquire, then words: has the marks of all events
 *            counted by gen.
 * [map.all]  kernel: STALE marks of all blocks, then all_stale = 0 with
 *            release. Reader: all_stale with acquire, then the word.
 * [map.seq]  kernel: seq odd, write barrier, counts and snap_gen, write
 *            barrier, seq even. Reader: seq with acquire, even; each count
 *            with acquire; seq again, the same. Give up after some tries: the
 *            writer may have been preempted on a PREEMPT_RT kernel.
 * [map.live] kernel: all fields of the descriptor, then state with release.
 *            Reader: state with acquire, then the fields. A region that is
 *            deleted and added again keeps no identity: compare cookie.
 * [map.epoch] kernel: gen of any region, then epoch + 1 with release. Reader:
 *            epoch with acquire, then gens.
 *
 * A load is a statement about the moment of that load. To know that nothing
 * moved during a longer look, load gen before and after.
 *
 * ## Versions
 *
 * New features come as feature bits, new fields at the end of structs and in
 * reserved words; meanings never change. abi_minor counts such additions.
 * abi_major is 1; another one would be another device name.
 */
#ifndef LKDF_KMOD_H
#define LKDF_KMOD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LKDF_KMOD_DEVICE "/dev/lkdf"
#define LKDF_KMOD_ABI_MAJOR 1
#define LKDF_KMOD_ABI_MINOR 0

/* lkdf_kmod_info.features */
#define LKDF_KMOD_F_QUERY (1ULL << 0)
#define LKDF_KMOD_F_REGION (1ULL << 1)
#define LKDF_KMOD_F_POLL (1ULL << 2)

struct lkdf_kmod_info {
	__u32 size;
	__u32 flags; /* 0 */
	/* out, all of it */
	__u16 abi_major;
	__u16 abi_minor;
	__u32 nr_nodes; /* highest possible node number + 1 */
	__u64 features;
	__u32 page_shift;
	__u32 max_regions; /* of one file */
	__u64 max_region_bytes;
	__u64 max_blocks; /* of one file */
	__u64 max_pages; /* of one REFRESH or QUERY, about */
	__u32 min_block_shift;
	__u32 max_block_shift;
};

struct lkdf_kmod_setup {
	__u32 size;
	__u32 flags; /* 0 */
	__u32 nr_regions;
	__u32 nr_blocks;
	__u64 map_bytes; /* out */
	__u64 rsvd;
};

struct lkdf_kmod_region {
	__u32 size;
	__u32 flags; /* 0 */
	__u64 addr;
	__u64 len;
	__u32 block_shift;
	__u32 id; /* out of ADD, in of DEL */
	__u64 cookie;
	__u64 rsvd;
};

#define LKDF_KMOD_STALE_ONLY 1U

struct lkdf_kmod_refresh {
	__u32 size;
	__u32 flags; /* LKDF_KMOD_STALE_ONLY */
	__u32 id;
	__u32 max_blocks;
	__u32 walked; /* out: blocks looked at */
	__u32 retries; /* out: looks thrown away because pages moved */
	__u64 gen; /* out: lkdf_map_desc.gen afterwards */
	__u64 resume_block; /* in and out */
	__u64 rsvd;
};

struct lkdf_kmod_query {
	__u32 size;
	__u32 flags; /* 0 */
	__u64 addr;
	__u64 len;
	__u64 counts_ptr;
	__u32 nr_counts;
	__u32 nr_nodes; /* out: words written to counts_ptr */
	__u64 done; /* out: bytes looked at */
	/* out: pages of the base size; all = present + absent + zero + error */
	__u64 present; /* on a node */
	__u64 absent; /* untouched, swapped out, in migration, hinted */
	__u64 rsvd2;
	__u64 zero; /* the shared page of zeroes */
	__u64 error; /* no mapping, not readable, device memory */
	__u64 huge; /* of present: mapped by a huge page */
	__u32 retries;
	__u32 rsvd;
};

#define LKDF_KMOD_IOC 0xDF
#define LKDF_KMOD_INFO _IOWR(LKDF_KMOD_IOC, 0, struct lkdf_kmod_info)
#define LKDF_KMOD_SETUP _IOWR(LKDF_KMOD_IOC, 1, struct lkdf_kmod_setup)
#define LKDF_KMOD_ADD _IOWR(LKDF_KMOD_IOC, 2, struct lkdf_kmod_region)
#define LKDF_KMOD_DEL _IOWR(LKDF_KMOD_IOC, 3, struct lkdf_kmod_region)
#define LKDF_KMOD_REFRESH _IOWR(LKDF_KMOD_IOC, 4, struct lkdf_kmod_refresh)
#define LKDF_KMOD_QUERY _IOWR(LKDF_KMOD_IOC, 5, struct lkdf_kmod_query)

/* lkdf_map_header.magic, as a little-endian number "lkdfmap" and a zero */
#define LKDF_MAP_MAGIC 0x0070616d66646b6cULL
/* lkdf_map_header.state */
#define LKDF_MAP_MM_GONE 1ULL

struct lkdf_map_header {
	/* Written by SETUP, constant afterwards. */
	__u64 magic;
	__u32 abi_major;
	__u32 abi_minor;
	__u32 header_size;
	__u32 desc_stride;
	__u32 nr_nodes;
	__u32 nr_regions;
	__u64 desc_off;
	__u64 blocks_off;
	__u64 bytes;
	__u64 nr_blocks;
	/* Written at any time. */
	__u64 epoch; /* [map.epoch] */
	__u64 state;
	__u64 rsvd[6];
};

/* lkdf_map_desc.state */
#define LKDF_MAP_FREE 0
#define LKDF_MAP_LIVE 1
#define LKDF_MAP_DEAD 2 /* the address space is gone */

struct lkdf_map_desc {
	/* Written by ADD. */
	__u64 start;
	__u64 len;
	__u64 cookie;
	__u32 state; /* [map.live] */
	__u32 block_shift;
	__u32 nr_blocks;
	__u32 blocks_off; /* of the first word, from the start of the map */
	/* Written by events and by REFRESH. */
	__u64 gen; /* [map.gen] */
	__u64 snap_gen; /* with seq */
	__u32 seq; /* [map.seq] */
	__u32 nr_stale; /* blocks; all of them while all_stale */
	__u32 all_stale; /* [map.all] */
	__u32 rsvd[3];
	/* Pages, as in lkdf_kmod_query; written with seq by REFRESH. */
	__u64 present;
	__u64 absent;
	__u64 rsvd2;
	__u64 zero;
	__u64 error;
	__u64 huge;
	/* __u64 pages[nr_nodes]; follows, desc_stride has room for it */
};

#define LKDF_MAP_PAGES_OFF 128
#define LKDF_MAP_BLOCK_ALIGN 32
#define LKDF_MAP_MARK_MAX 4096

#define LKDF_BLOCK_NODE 0x03ff
#define LKDF_BLOCK_HUGE 0x0400
#define LKDF_BLOCK_EMPTY 0x1000
#define LKDF_BLOCK_PARTIAL 0x2000
#define LKDF_BLOCK_MIXED 0x4000
#define LKDF_BLOCK_STALE 0x8000
/* None of these set: settled. */
#define LKDF_BLOCK_UNSETTLED \
	(LKDF_BLOCK_STALE | LKDF_BLOCK_EMPTY | LKDF_BLOCK_PARTIAL)

#if !defined(__cplusplus) || __cplusplus >= 201103L
#ifdef __cplusplus
#define LKDF_KMOD_ASSERT(cond) static_assert(cond, #cond)
#else
#define LKDF_KMOD_ASSERT(cond) _Static_assert(cond, #cond)
#endif
#define LKDF_KMOD_AT(type, field, offset) \
	LKDF_KMOD_ASSERT(__builtin_offsetof(struct type, field) == (offset))
#define LKDF_KMOD_SIZE(type, size) \
	LKDF_KMOD_ASSERT(sizeof(struct type) == (size))

LKDF_KMOD_SIZE(lkdf_kmod_info, 64);
LKDF_KMOD_AT(lkdf_kmod_info, flags, 4);
LKDF_KMOD_AT(lkdf_kmod_info, abi_major, 8);
LKDF_KMOD_AT(lkdf_kmod_info, abi_minor, 10);
LKDF_KMOD_AT(lkdf_kmod_info, nr_nodes, 12);
LKDF_KMOD_AT(lkdf_kmod_info, features, 16);
LKDF_KMOD_AT(lkdf_kmod_info, page_shift, 24);
LKDF_KMOD_AT(lkdf_kmod_info, max_regions, 28);
LKDF_KMOD_AT(lkdf_kmod_info, max_region_bytes, 32);
LKDF_KMOD_AT(lkdf_kmod_info, max_blocks, 40);
LKDF_KMOD_AT(lkdf_kmod_info, max_pages, 48);
LKDF_KMOD_AT(lkdf_kmod_info, min_block_shift, 56);
LKDF_KMOD_AT(lkdf_kmod_info, max_block_shift, 60);

LKDF_KMOD_SIZE(lkdf_kmod_setup, 32);
LKDF_KMOD_AT(lkdf_kmod_setup, flags, 4);
LKDF_KMOD_AT(lkdf_kmod_setup, nr_regions, 8);
LKDF_KMOD_AT(lkdf_kmod_setup, nr_blocks, 12);
LKDF_KMOD_AT(lkdf_kmod_setup, map_bytes, 16);
LKDF_KMOD_AT(lkdf_kmod_setup, rsvd, 24);

LKDF_KMOD_SIZE(lkdf_kmod_region, 48);
LKDF_KMOD_AT(lkdf_kmod_region, flags, 4);
LKDF_KMOD_AT(lkdf_kmod_region, addr, 8);
LKDF_KMOD_AT(lkdf_kmod_region, len, 16);
LKDF_KMOD_AT(lkdf_kmod_region, block_shift, 24);
LKDF_KMOD_AT(lkdf_kmod_region, id, 28);
LKDF_KMOD_AT(lkdf_kmod_region, cookie, 32);
LKDF_KMOD_AT(lkdf_kmod_region, rsvd, 40);

LKDF_KMOD_SIZE(lkdf_kmod_refresh, 48);
LKDF_KMOD_AT(lkdf_kmod_refresh, flags, 4);
LKDF_KMOD_AT(lkdf_kmod_refresh, id, 8);
LKDF_KMOD_AT(lkdf_kmod_refresh, max_blocks, 12);
LKDF_KMOD_AT(lkdf_kmod_refresh, walked, 16);
LKDF_KMOD_AT(lkdf_kmod_refresh, retries, 20);
LKDF_KMOD_AT(lkdf_kmod_refresh, gen, 24);
LKDF_KMOD_AT(lkdf_kmod_refresh, resume_block, 32);
LKDF_KMOD_AT(lkdf_kmod_refresh, rsvd, 40);

LKDF_KMOD_SIZE(lkdf_kmod_query, 104);
LKDF_KMOD_AT(lkdf_kmod_query, flags, 4);
LKDF_KMOD_AT(lkdf_kmod_query, addr, 8);
LKDF_KMOD_AT(lkdf_kmod_query, len, 16);
LKDF_KMOD_AT(lkdf_kmod_query, counts_ptr, 24);
LKDF_KMOD_AT(lkdf_kmod_query, nr_counts, 32);
LKDF_KMOD_AT(lkdf_kmod_query, nr_nodes, 36);
LKDF_KMOD_AT(lkdf_kmod_query, done, 40);
LKDF_KMOD_AT(lkdf_kmod_query, present, 48);
LKDF_KMOD_AT(lkdf_kmod_query, absent, 56);
LKDF_KMOD_AT(lkdf_kmod_query, rsvd2, 64);
LKDF_KMOD_AT(lkdf_kmod_query, zero, 72);
LKDF_KMOD_AT(lkdf_kmod_query, error, 80);
LKDF_KMOD_AT(lkdf_kmod_query, huge, 88);
LKDF_KMOD_AT(lkdf_kmod_query, retries, 96);
LKDF_KMOD_AT(lkdf_kmod_query, rsvd, 100);

LKDF_KMOD_SIZE(lkdf_map_header, 128);
LKDF_KMOD_AT(lkdf_map_header, abi_major, 8);
LKDF_KMOD_AT(lkdf_map_header, abi_minor, 12);
LKDF_KMOD_AT(lkdf_map_header, header_size, 16);
LKDF_KMOD_AT(lkdf_map_header, desc_stride, 20);
LKDF_KMOD_AT(lkdf_map_header, nr_nodes, 24);
LKDF_KMOD_AT(lkdf_map_header, nr_regions, 28);
LKDF_KMOD_AT(lkdf_map_header, desc_off, 32);
LKDF_KMOD_AT(lkdf_map_header, blocks_off, 40);
LKDF_KMOD_AT(lkdf_map_header, bytes, 48);
LKDF_KMOD_AT(lkdf_map_header, nr_blocks, 56);
LKDF_KMOD_AT(lkdf_map_header, epoch, 64);
LKDF_KMOD_AT(lkdf_map_header, state, 72);
LKDF_KMOD_AT(lkdf_map_header, rsvd, 80);

LKDF_KMOD_SIZE(lkdf_map_desc, LKDF_MAP_PAGES_OFF);
LKDF_KMOD_AT(lkdf_map_desc, len, 8);
LKDF_KMOD_AT(lkdf_map_desc, cookie, 16);
LKDF_KMOD_AT(lkdf_map_desc, state, 24);
LKDF_KMOD_AT(lkdf_map_desc, block_shift, 28);
LKDF_KMOD_AT(lkdf_map_desc, nr_blocks, 32);
LKDF_KMOD_AT(lkdf_map_desc, blocks_off, 36);
LKDF_KMOD_AT(lkdf_map_desc, gen, 40);
LKDF_KMOD_AT(lkdf_map_desc, snap_gen, 48);
LKDF_KMOD_AT(lkdf_map_desc, seq, 56);
LKDF_KMOD_AT(lkdf_map_desc, nr_stale, 60);
LKDF_KMOD_AT(lkdf_map_desc, all_stale, 64);
LKDF_KMOD_AT(lkdf_map_desc, rsvd, 68);
LKDF_KMOD_AT(lkdf_map_desc, present, 80);
LKDF_KMOD_AT(lkdf_map_desc, absent, 88);
LKDF_KMOD_AT(lkdf_map_desc, rsvd2, 96);
LKDF_KMOD_AT(lkdf_map_desc, zero, 104);
LKDF_KMOD_AT(lkdf_map_desc, error, 112);
LKDF_KMOD_AT(lkdf_map_desc, huge, 120);
#undef LKDF_KMOD_AT
#undef LKDF_KMOD_SIZE
#undef LKDF_KMOD_ASSERT
#endif

#endif
