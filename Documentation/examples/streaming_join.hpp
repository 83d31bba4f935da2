// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// How the inputs of a streaming_node are joined to waves.
//
#ifndef STREAMING_JOIN_HPP
#define STREAMING_JOIN_HPP

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>

namespace lk::flow
{

// The n'th input of each port is one wave.
struct queueing {
};

// Inputs of one key are one wave: key_from_message() of each.
template <class K, class Hash = std::hash<K>> struct key_matching {
};

template <class K, class M>
auto key_from_message(const M &m) -> decltype(K(m.key()))
{
	return m.key();
}

namespace detail
{
// find() is the wave of an input. take() moves the waves that are complete, of
// those with the key of the input m, to ready.
template <class JP, class Job> class joiner;

template <class Job> class joiner<queueing, Job>
{
	std::deque<Job> waves_; // the first of them is number first_
	uint64_t first_ = 0;
	std::map<int, uint64_t> nr_; // inputs of each port

      public:
	template <int N, class M> Job &find(const M &)
	{
		uint64_t at = nr_[N] - first_;

		if (at == waves_.size())
			waves_.emplace_back();
		nr_[N]++;
		return waves_[at];
	}
	template <class M> void take(const M &, std::deque<Job> &ready)
	{
		while (!waves_.empty() && waves_.front().is_complete()) {
			ready.push_back(std::move(waves_.front()));
			waves_.pop_front();
			first_++;
		}
	}
	bool is_empty() const
	{
		return waves_.empty();
	}
};

template <class K, class Hash, class Job>
class joiner<key_matching<K, Hash>, Job>
{
	// Inputs of one key may come again before the first wave is complete.
	std::unordered_map<K, joiner<queueing, Job>, Hash> waves_;

      public:
	template <int N, class M> Job &find(const M &m)
	{
		return waves_[key_from_message<K>(m)].template find<N>(m);
	}
	template <class M> void take(const M &m, std::deque<Job> &ready)
	{
		auto at = waves_.find(key_from_message<K>(m));

		at->second.take(m, ready);
		if (at->second.is_empty())
			waves_.erase(at);
	}
};
} // namespace detail

} // namespace lk::flow

#endif
