/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The directories and files found by the walk (walk.c). A directory that has
 * been read once, by whatever name, is not read again: that ends loops of bind
 * mounts and overlapping arguments alike.
 */
#ifndef DUPES_TREE_H
#define DUPES_TREE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <xxhash.h>

struct dir {
	struct tree *tree;
	struct dir *parent; /* NULL: an argument of the command */
	struct dir *next; /* all directories, the latest first */
	dev_t dev;
	ino_t ino;
	int err; /* 0 or the errno that kept us out */
	char name[];
};

/* A name; names of the same inode hang on the first one's link. */
struct file {
	struct file *next; /* all files, the latest first */
	struct file *link;
	const struct dir *dir;
	dev_t dev;
	ino_t ino;
	off_t size;
	XXH128_hash_t sum; /* of what has been hashed so far */
	int err; /* 0 or the errno that put it out of the race */
	int peer_err; /* the same of the file it was compared with */
	bool is_equal; /* to the file it was compared with */
	char name[];
};

struct counts {
	uint64_t dirs, files, bytes;
	uint64_t empty, small, special, symlinks;
	uint64_t vanished, unreadable; /* by the walk, directories included */
	uint64_t again; /* directories met a second time */
};

struct tree {
	uint64_t min_size; /* set before the first task */

	pthread_mutex_t lock; /* of all below while tasks run */
	struct counts counts;
	struct dir *dirs;
	struct file *files;
	struct file *failed; /* whose size could not be asked: err */
	void *seen; /* directories read, for tsearch(3) */
};

void tree_init(struct tree *t, uint64_t min_size);
void tree_fini(struct tree *t);
struct counts tree_counts(struct tree *t);

/* NULL: no memory. name: copied */
struct dir *dir_create(struct tree *t, struct dir *parent, const char *name);
struct file *file_create(const struct dir *d, const char *name);

/* Is this the first time that it is met? -ENOMEM if unknown. */
int tree_is_new(struct dir *d, dev_t dev, ino_t ino);

/* The path of a name in a directory, or of the directory; to be freed. */
char *tree_path(const struct dir *d, const char *name);

#endif
