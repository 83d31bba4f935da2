/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How ordinary programs use malloc(), one pattern a run, with whatever malloc()
 * this process was started with, for table.py:
 *
 *	patterns NAME THREADS [ROUNDS]
 *
 * Each thread does the same work with objects of its own; in pair, half of
 * the threads free what the others allocate. A block is full of numbers that
 * are checked before it goes. Prints ns of wall time and of CPU time, VmHWM
 * in kB, and a sum of what was in the blocks, which no allocator may change.
 * Exit status 1: a block did not hold what was written to it.
 */
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>
#include <time.h>
#include <utility>
#include <vector>

/* Numbers of a thread, the same in each run. */
struct source {
	uint64_t x = 88172645463325252u;

	uint32_t next()
	{
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
		return uint32_t((x * 2685821657736338717u) >> 32);
	}
};

[[noreturn]] static void end_wrong(const char *what)
{
	fprintf(stderr, "patterns: %s\n", what);
	_Exit(1);
}

/* A block's first word is its number, its last byte what follows from that. */
struct block {
	uint32_t number;
	uint32_t size;
};

static uint8_t last_byte(uint32_t number)
{
	return uint8_t(number * 167 + 13);
}

static block *new_block(uint32_t number, uint32_t size)
{
	void *p = malloc(size);

	if (!p)
		end_wrong("no memory");
	block *b = new (p) block{ number, size };
	static_cast<uint8_t *>(p)[size - 1] = last_byte(number);
	return b;
}

static void free_block(block *b, uint32_t number)
{
	if (b->number != number ||
	    reinterpret_cast<uint8_t *>(b)[b->size - 1] != last_byte(number))
		end_wrong("a block does not hold what was written to it");
	free(b);
}

static constexpr uint32_t NR_BLOCKS = 100000;

static uint32_t any_size(source &s)
{
	return 16 + s.next() % 240;
}

/* Blocks of 16 to 255 bytes, freed in order of allocation or in any order. */
static uint64_t free_all(uint32_t rounds, bool is_random)
{
	std::vector<std::pair<block *, uint32_t>> held(NR_BLOCKS);
	uint64_t sum = 0;
	source s;

	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t i = 0; i < NR_BLOCKS; i++)
			held[i] = { new_block(i, any_size(s)), i };
		for (uint32_t i = NR_BLOCKS - 1; is_random && i > 0; i--)
			std::swap(held[i], held[s.next() % (i + 1)]);
		for (uint32_t i = 0; i < NR_BLOCKS; i++) {
			free_block(held[i].first, held[i].second);
			sum += uint64_t(held[i].second) * (i % 7 + 1);
		}
	}
	return sum;
}

static uint64_t in_order(uint32_t rounds)
{
	return free_all(rounds, false);
}

static uint64_t at_random(uint32_t rounds)
{
	return free_all(rounds, true);
}

/* A search tree whose nodes have a string each, built and dropped. */
struct node {
	std::string text;
	std::unique_ptr<node> less, more;

	explicit node(std::string t) : text(std::move(t))
	{
	}
};

static std::string word(source &s)
{
	static const char letters[] = "etaoinshrdlucmfw";
	std::string text(8 + s.next() % 40, ' ');

	for (size_t i = 0; i < text.size(); i += 4) {
		uint32_t x = s.next();

		for (size_t k = i; k < text.size() && k < i + 4; k++, x >>= 4)
			text[k] = letters[x % 16];
	}
	return text;
}

static void insert(std::unique_ptr<node> &root, std::string text)
{
	std::unique_ptr<node> *at = &root;

	while (*at)
		at = text < (*at)->text ? &(*at)->less : &(*at)->more;
	*at = std::make_unique<node>(std::move(text));
}

static uint64_t sum_of(const std::string &text)
{
	uint64_t sum = 0;

	for (char c : text)
		sum = sum * 31 + uint8_t(c);
	return sum;
}

static uint64_t sum_of(const node *n)
{
	return n ? sum_of(n->text) + 3 * sum_of(n->less.get()) +
			       5 * sum_of(n->more.get())
		 : 0;
}

static uint64_t tree(uint32_t rounds)
{
	uint64_t sum = 0;
	source s;

	for (uint32_t r = 0; r < rounds; r++) {
		std::unique_ptr<node> root;

		for (int i = 0; i < 20000; i++)
			insert(root, word(s));
		sum += sum_of(root.get());
	}
	return sum;
}

/* Vectors that grow by one number at a time, many of them by turns. */
static uint64_t vectors(uint32_t rounds)
{
	uint64_t sum = 0;
	source s;

	for (uint32_t r = 0; r < rounds; r++) {
		std::vector<std::vector<uint32_t>> all(500);

		for (int i = 0; i < 100000; i++) {
			uint32_t x = s.next();

			all[x % all.size()].push_back(x);
		}
		for (const std::vector<uint32_t> &v : all)
			for (size_t i = 0; i < v.size(); i++)
				sum += uint64_t(v[i]) * (i % 5 + 1);
	}
	return sum;
}

/* Documents: maps of strings in maps, copied, some fields of the copy changed.
 */
using fields = std::map<std::string, std::string>;
using document = std::map<std::string, fields>;

static document any_document(source &s)
{
	document d;

	for (int i = 0; i < 8; i++) {
		fields &f = d[word(s)];

		for (int k = 0; k < 12; k++)
			f[word(s)] = word(s);
	}
	return d;
}

static uint64_t sum_of(const document &d)
{
	uint64_t sum = 0;

	for (const auto &part : d)
		for (const auto &field : part.second)
			sum = sum * 7 + sum_of(field.first) +
			      3 * sum_of(field.second);
	return sum;
}

static uint64_t documents(uint32_t rounds)
{
	std::vector<document> all;
	uint64_t sum = 0;
	source s;

	for (int i = 0; i < 60; i++)
		all.push_back(any_document(s));
	for (uint32_t r = 0; r < rounds; r++) {
		for (document &d : all) {
			document copy = d;

			copy.begin()->second[word(s)] = word(s);
			copy.rbegin()->second.erase(
				copy.rbegin()->second.begin());
			sum += sum_of(copy);
			if (s.next() % 4 == 0)
				d = copy.size() < 12 ? any_document(s) : copy;
		}
	}
	return sum;
}

/* One thread allocates, another one frees. */
static constexpr uint32_t NR_PLACES = 1024;

struct ring {
	alignas(64) std::atomic<block *> place[NR_PLACES];
};

static void relax(uint32_t &nr)
{
	if (++nr % 64 == 0)
		sched_yield();
}

static void produce(ring &r, uint32_t nr)
{
	uint32_t waits = 0;
	source s;

	for (uint32_t i = 0; i < nr; i++) {
		std::atomic<block *> &p = r.place[i % NR_PLACES];

		while (p.load(std::memory_order_acquire))
			relax(waits);
		p.store(new_block(i, any_size(s)), std::memory_order_release);
	}
}

static uint64_t consume(ring &r, uint32_t nr)
{
	uint32_t waits = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		std::atomic<block *> &p = r.place[i % NR_PLACES];
		block *b;

		while (!(b = p.load(std::memory_order_acquire)))
			relax(waits);
		p.store(nullptr, std::memory_order_release);
		sum += uint64_t(b->number) * (i % 7 + 1);
		free_block(b, i);
	}
	return sum;
}

static const struct pattern {
	const char *name;
	uint64_t (*run)(uint32_t rounds); /* NULL: pair */
	uint32_t rounds;
} patterns[] = {
	{ "tree", tree, 5 },
	{ "in-order", in_order, 10 },
	{ "at-random", at_random, 8 },
	{ "vectors", vectors, 80 },
	{ "documents", documents, 40 },
	{ "pair", nullptr, 10 },
};

static int64_t clock_ns(clockid_t clock)
{
	timespec t;

	clock_gettime(clock, &t);
	return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

static long peak_kb()
{
	char text[128];
	FILE *f = fopen("/proc/self/status", "r");
	long kb = 0;

	while (f && fgets(text, sizeof(text), f))
		if (!strncmp(text, "VmHWM:", 6))
			kb = strtol(text + 6, nullptr, 10);
	if (f)
		fclose(f);
	return kb;
}

static uint64_t run_alone(const pattern &p, uint32_t threads, uint32_t rounds)
{
	std::vector<uint64_t> sum(threads);
	std::vector<std::thread> all;
	uint64_t total = 0;

	for (uint32_t i = 0; i < threads; i++)
		all.emplace_back(
			[&sum, &p, i, rounds] { sum[i] = p.run(rounds); });
	for (std::thread &t : all)
		t.join();
	for (uint64_t x : sum)
		total += x;
	return total;
}

static uint64_t run_pairs(uint32_t pairs, uint32_t rounds)
{
	std::vector<ring> rings(pairs);
	std::vector<uint64_t> sum(pairs);
	std::vector<std::thread> all;
	uint32_t nr = rounds * NR_BLOCKS;
	uint64_t total = 0;

	for (uint32_t i = 0; i < pairs; i++) {
		all.emplace_back([&rings, i, nr] { produce(rings[i], nr); });
		all.emplace_back([&rings, &sum, i, nr] {
			sum[i] = consume(rings[i], nr);
		});
	}
	for (std::thread &t : all)
		t.join();
	for (uint64_t x : sum)
		total += x;
	return total;
}

int main(int argc, char **argv)
{
	uint32_t threads, rounds;

	for (const pattern &p : patterns) {
		if (argc < 3 || strcmp(argv[1], p.name))
			continue;
		threads = uint32_t(strtoul(argv[2], nullptr, 10));
		rounds = argc > 3 ? uint32_t(strtoul(argv[3], nullptr, 10))
				  : p.rounds;
		if (!threads || !rounds || (!p.run && threads % 2))
			break;
		int64_t wall = clock_ns(CLOCK_MONOTONIC);
		int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		uint64_t sum = p.run ? run_alone(p, threads, rounds)
				     : run_pairs(threads / 2, rounds);

		cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		wall = clock_ns(CLOCK_MONOTONIC) - wall;
		printf("%" PRId64 " %" PRId64 " %ld %" PRIu64 "\n", wall, cpu,
		       peak_kb(), sum);
		return 0;
	}
	fprintf(stderr, "usage: patterns NAME THREADS [ROUNDS], NAME one of");
	for (const pattern &p : patterns)
		fprintf(stderr, " %s", p.name);
	fprintf(stderr, "; pair: an even number of threads\n");
	return 2;
}
