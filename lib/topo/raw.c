/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "topo/raw.h"

#include "topo/cpulist.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES "/sys/devices/system/node/"

/* Length of the text in buf, 0-terminated; -1: cannot be read. */
static int read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, buf, size - 1);
	close(fd);
	if (got < 0)
		return -1;
	buf[got] = '\0';
	return (int)got;
}

struct nodes {
	bool *is_node;
	int nr;
};

static int add_nodes(void *u, int first, int last)
{
	struct nodes *n = u;

	for (; first <= last && first < n->nr; first++)
		n->is_node[first] = true;
	return 0;
}

static bool read_nodes(const char *path, bool *is_node, int nr)
{
	struct nodes n = { is_node, nr };
	char buf[1024];

	memset(is_node, 0, (size_t)nr * sizeof(*is_node));
	return read_file(path, buf, sizeof(buf)) > 0 &&
	       !cpulist_parse(buf, add_nodes, &n, NULL);
}

bool topo_raw_nodes(bool *is_node, int nr)
{
	return read_nodes(NODES "online", is_node, nr);
}

bool topo_raw_memory_nodes(bool *is_node, int nr)
{
	return read_nodes(NODES "has_memory", is_node, nr);
}

bool topo_raw_distances(int os_node, int *distance, int nr)
{
	char path[64], buf[1024], *at = buf, *end;
	int i;

	snprintf(path, sizeof(path), NODES "node%d/distance", os_node);
	if (read_file(path, buf, sizeof(buf)) < 0)
		return false;
	for (i = 0; i < nr; i++, at = end) {
		distance[i] = (int)strtol(at, &end, 10);
		if (end == at)
			return false;
	}
	return true;
}

int64_t topo_raw_node_free(int os_node)
{
	char path[64], buf[2048];
	const char *at;

	snprintf(path, sizeof(path), NODES "node%d/meminfo", os_node);
	if (read_file(path, buf, sizeof(buf)) < 0)
		return -1;
	at = strstr(buf, "MemFree:");
	return at ? strtoll(at + strlen("MemFree:"), NULL, 10) * 1024 : -1;
}
