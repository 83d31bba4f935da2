/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tier T2 of the board: /dev/lkdf, see kmod/uapi/lkdf_kmod.h. The board's words
 * are the kernel's own, mapped read-only; blocks whose pages move say STALE at
 * once, and a look is a REFRESH of those. Blocks that are empty or in part are
 * looked at again after a pause that grows, because nobody tells when a page
 * comes.
 */
#ifndef SIGNAL_SRC_KMOD_H
#define SIGNAL_SRC_KMOD_H

#include "signal/board.h"

/* 0; 1: there is none that can be used, b->why says why; -ENOMEM. */
int src_kmod_open(struct board *b);

#endif
