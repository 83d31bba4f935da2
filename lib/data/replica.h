/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies of a data's bytes for readers on other nodes (LKDF_DATA_REPLICATE):
 * at most one for each node and version, 64-byte aligned.
 *
 *	NULL -> COPIED -> bytes      the first reader of a node copies
 *	            \-> REFUSED      no memory there: not tried again
 *	any -> NULL                  a writer, before its body
 *
 * Nobody waits: who finds COPIED or REFUSED reads the original. The queue of
 * the data (data/var.h) keeps readers and writers apart, so a writer finds
 * neither COPIED nor a reader of what it drops, and one version is all that is
 * ever copied. The copy that a body reads is chosen before it starts (copy in
 * struct use): it does not change while it runs.
 *
 * Copied is for reads of the whole. Tasks below one that writes the data read
 * the original, for that one may write at any time. So do those below tasks of
 * sealed graphs, for a run claims once for all that its tasks do one after
 * another; and threads of the program. In the graph itself edges do what the
 * queue does.
 */
#ifndef DATA_REPLICA_H
#define DATA_REPLICA_H

#include "data/data.h"

#define REPLICA_MIN 4096 /* bytes of a data, at least */

struct replicas {
	/* Set at create, constant afterwards. */
	int nr;

	/* A reader, before it copies; whoever writes. */
	_Atomic(bool) has_any;

	struct replica {
		/* Readers of the data on this node; whoever writes it. */
		_Alignas(CACHE_LINE) _Atomic(void *) at;
	} node[];
};

/* For data that may have copies at all. 0 or -ENOMEM. */
int replicas_create(struct lkdf_data *d);
void replicas_destroy(struct lkdf_data *d);

/*
 * The caller reads the whole: a copy is on the node now, or has been. False:
 * there is none to be had, or not yet.
 */
bool replica_make(struct executor *ex, struct lkdf_data *d, int node);

/* The copy on a node for which replica_make() was true. */
void *replica_at(const struct lkdf_data *d, int node);

void replicas_drop(struct lkdf_data *d);

/* The caller has been granted a use that writes. */
static inline void data_will_write(struct lkdf_data *d)
{
	if (unlikely(d->replicas))
		replicas_drop(d);
}

#endif
