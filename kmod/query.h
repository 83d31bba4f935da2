/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts pages of the caller's own address space, once. */
#ifndef LKDF_QUERY_H
#define LKDF_QUERY_H

#include "limits.h"
#include "uapi/lkdf_kmod.h"

int query(const struct limits *limits, struct lkdf_kmod_query *req);

#endif
