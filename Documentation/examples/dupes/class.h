/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A class is the files of one size: a task that hashes their heads, drops those
 * whose sum nobody shares, hashes the rest of the others, drops again, and has
 * what is left compared byte by byte. Where two are left they are compared at
 * once: that reads no more than hashing, and is proof. Each stage is a number
 * of children, and lkdf_then() goes on when all of them are complete; so no
 * class waits for another, and no lock is needed inside of one.
 *
 * Equal files become a set. The work is done by the tasks of hash.h and
 * pair.h.
 */
#ifndef DUPES_CLASS_H
#define DUPES_CLASS_H

#include "hash.h"
#include "pair.h"

/* Files of the same bytes, the names of each inode on its link. */
struct set {
	struct set *next;
	off_t size;
	size_t nr;
	struct file *file[];
};

/* State that the classes of one search share. */
struct search {
	/* Set before the first task. */
	struct reading reading;
	struct hashing hashing;
	struct comparing comparing;
	struct lkdf_kind *class_kind;
	bool no_hash; /* compare all with all */

	pthread_mutex_t lock; /* of all below while tasks run */
	struct set *sets;
	size_t nr_sets;
};

struct class
{
	struct search *search;
	struct file **file; /* those still in the race: part of one array */
	size_t nr;
	uint64_t left; /* at most to be read: our part of reading.left */
	uint64_t stage; /* of that, what the stage under way reads */
};

/* All files by size; built after the walk, by one thread. */
struct classes {
	struct file **file;
	struct class *class;
	size_t nr_files; /* inodes */
	size_t nr_classes; /* sizes that several inodes have */
	size_t nr_alone; /* inodes whose size nobody shares: never opened */
	size_t nr_links; /* further names of an inode */
};

int search_init(struct search *s, struct lkdf *rt, struct pool *p);
void search_fini(struct search *s);

int classes_init(struct classes *cs, struct search *s, struct tree *t);
void classes_fini(struct classes *cs);

/* Starts them all; their end is the scope's end. */
int classes_submit(struct classes *cs, struct search *s, struct lkdf *rt,
		   struct lkdf_scope *scope);

#endif
