/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tier T0 of the board, which any process may use: one page of each block is
 * asked for its node with move_pages(2). Nobody tells when pages move, but
 * /proc/vmstat counts pages that did, anywhere on the machine, and lkdf probe
 * does in mapped memory, which is tier T1; when nobody has counted any, only a
 * look each second is due. Where move_pages(2) is refused,
 * numa_maps says where whole mappings are.
 *
 * Linux 6.1 says of pages that wait for a hint of AutoNUMA that they are not
 * there: a block that has been somewhere stays there until another node is
 * seen.
 */
#ifndef SIGNAL_SRC_PROC_H
#define SIGNAL_SRC_PROC_H

#include "signal/board.h"

/* 0 or -ENOMEM; a board without a source has the reason in why. */
int src_proc_open(struct board *b);

#endif
