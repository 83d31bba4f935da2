/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/rights.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Stands for whom a user namespace does not map, where /proc does not tell. */
#define OVERFLOW_UID 65534

/* PR_GET_DUMPABLE tells 2 where only root may read a core. */
static bool is_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

const char *rights_raised(void)
{
	if (getauxval(AT_SECURE))
		return "this program has the rights of somebody else";
	if (!is_dumpable())
		return "this process is not dumpable";
	return NULL;
}

/* The first numbers of a file in /proc; how many there are, at most three. */
static int read_numbers(const char *path, unsigned number[3])
{
	FILE *f = fopen(path, "re");
	int nr = 0;

	if (!f)
		return 0;
	nr = fscanf(f, "%u %u %u", &number[0], &number[1], &number[2]);
	fclose(f);
	return nr;
}

/* The namespace that everything begins with maps each user to itself. */
static bool all_are_mapped(void)
{
	unsigned map[3];

	return read_numbers("/proc/self/uid_map", map) == 3 && !map[0] &&
	       !map[1] && map[2] == UINT32_MAX;
}

/* Is it a user, and not the number of all those who are not mapped? */
static bool is_mapped(uid_t uid)
{
	unsigned number[3];

	if (read_numbers("/proc/sys/kernel/overflowuid", number) < 1)
		number[0] = OVERFLOW_UID;
	return uid != number[0] || all_are_mapped();
}

/* All of ours: a program that has changed one of them is two users'. */
static bool is_our_user(uid_t uid)
{
	uid_t real, effective, saved;

	return !getresuid(&real, &effective, &saved) && uid == real &&
	       uid == effective && uid == saved;
}

bool rights_trust(int socket)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
	    !is_mapped(who.uid))
		return false;
	return !who.uid || (is_dumpable() && is_our_user(who.uid));
}
