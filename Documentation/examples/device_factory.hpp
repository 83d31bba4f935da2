// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The Factory of streaming_node.hpp for the devices of lkdf: a device is a
// place, a kernel has code for each sort of device, a range is up to three
// numbers. Arguments are buffers, which are data of lkdf, and plain values.
//
// A message with a buffer that a kernel changes is pending on the event of the
// kernel's task. Other kernels take it at once: the uses of the data order
// them. Functions get it when it is set.
//
#ifndef DEVICE_FACTORY_HPP
#define DEVICE_FACTORY_HPP

#include "streaming_node.hpp"

#include <cstring>
#include <initializer_list>
#include <string>
#include <typeindex>

namespace lk::flow
{

// nr elements of T, shared by all copies; key: for key_matching.
template <class T> class buffer
{
	struct put {
		void operator()(struct lkdf_data *d) const
		{
			lkdf_data_put(d);
		}
	};
	std::shared_ptr<struct lkdf_data> d_;
	size_t nr_ = 0;
	uint64_t key_ = 0;
	T *at_ = nullptr;

      public:
	buffer() = default;
	buffer(const runtime &rt, const std::vector<T> &init, uint64_t key = 0)
	    : nr_(init.size()), key_(key)
	{
		struct lkdf_data_attr a = {};
		struct lkdf_data *d;

		a.size = sizeof(a);
		a.bytes = init.size() * sizeof(T);
		a.init = init.data();
		must(lkdf_data_create(rt.get(), &a, &d));
		d_.reset(d, put());
	}
	struct lkdf_data *get() const
	{
		return d_.get();
	}
	size_t size() const
	{
		return nr_;
	}
	uint64_t key() const
	{
		return key_;
	}
	// The elements, in the function of a function_node.
	const T &operator[](size_t i) const
	{
		return at_[i];
	}
	// On a thread: waits for those who write it.
	std::vector<T> read() const
	{
		void *bytes;

		must(lkdf_data_acquire(get(), LKDF_READ, -1, &bytes));
		auto *at = static_cast<T *>(bytes);
		std::vector<T> v(at, at + nr_);
		must(lkdf_data_release(get()));
		return v;
	}
	struct lkdf_use use() const
	{
		return { get(), LKDF_READ, 0 };
	}
	buffer mapped(void *at) const
	{
		buffer b = *this;

		b.at_ = static_cast<T *>(at);
		return b;
	}
};

// A message whose value is known while its bytes may still be pending.
template <class T> class device_msg : public async_msg<T>
{
	T value_;

      public:
	explicit device_msg(T value) : value_(std::move(value))
	{
		this->set(value_);
	}
	const T &value() const
	{
		return value_;
	}
	template <class V = T> auto key() const -> decltype(V().key())
	{
		return value_.key();
	}
};

// Items of up to three dimensions.
class device_range
{
	std::array<uint64_t, 3> n_{ 1, 1, 1 };

      public:
	device_range(std::initializer_list<int> n)
	{
		size_t i = 0;

		for (int v : n)
			n_.at(i++) = static_cast<uint64_t>(v);
	}
	explicit device_range(size_t n) : n_{ n, 1, 1 }
	{
	}
	const std::array<uint64_t, 3> &get() const
	{
		return n_;
	}
};

// A kernel, with code for sorts of devices; copies are one kernel.
class device_kernel
{
	struct put {
		void operator()(struct lkdf_kind *k) const
		{
			lkdf_kind_put(k);
		}
	};
	struct state {
		struct lkdf *rt;
		std::string name;
		std::vector<struct lkdf_code> code;
		std::mutex lock;
		std::map<std::type_index,
			 std::unique_ptr<struct lkdf_kind, put>>
			kinds;
	};
	std::shared_ptr<state> state_;

      public:
	// The texts in code are borrowed until the kernel is gone.
	device_kernel(const runtime &rt, std::string name,
		      std::vector<struct lkdf_code> code)
	    : state_(std::make_shared<state>())
	{
		state_->rt = rt.get();
		state_->name = std::move(name);
		state_->code = std::move(code);
	}
	struct lkdf *get_runtime() const
	{
		return state_->rt;
	}
	// For parameters of these types, and an argument of so many bytes.
	struct lkdf_kind *kind(std::type_index types,
			       const std::vector<struct lkdf_param> &param,
			       size_t arg_size) const
	{
		std::lock_guard<std::mutex> guard(state_->lock);
		auto &made = state_->kinds[types];
		struct lkdf_kernel_attr a = {};
		struct lkdf_kind_attr kind = {};
		struct lkdf_kind *k;

		if (made)
			return made.get();
		kind.size = sizeof(kind);
		kind.name = state_->name.c_str();
		kind.arg_size = static_cast<uint32_t>(arg_size);
		a.size = sizeof(a);
		a.kind = &kind;
		a.code = state_->code.data();
		a.nr_code = static_cast<uint32_t>(state_->code.size());
		a.param = param.data();
		a.nr_param = static_cast<uint32_t>(param.size());
		a.range_from = LKDF_RANGE_TASK;
		must(lkdf_kind_create_kernel(state_->rt, &a, &k));
		made.reset(k);
		return k;
	}
};

class device_factory
{
	graph &g_;

	// The parts of a task, argument by argument.
	struct maker {
		std::vector<struct lkdf_param> param;
		std::vector<struct lkdf_use> use;
		std::vector<unsigned char> arg;

		template <class T> void add(const device_msg<buffer<T>> &m)
		{
			add_buffer(m.value().get(), LKDF_READ);
		}
		template <class T> void add(device_msg<buffer<T>> &m)
		{
			add_buffer(m.value().get(), LKDF_RW);
		}
		template <class T> void add(const device_msg<T> &m)
		{
			static_assert(std::is_trivially_copyable_v<T>,
				      "a value travels as bytes");
			struct lkdf_param p = {};

			arg.resize((arg.size() + 7) / 8 * 8);
			p.from = LKDF_PARAM_TASK;
			p.first = static_cast<uint16_t>(arg.size());
			p.bytes = sizeof(T);
			param.push_back(p);
			arg.resize(arg.size() + sizeof(T));
			std::memcpy(&arg[p.first], &m.value(), sizeof(T));
		}
		template <class T> void add(device_msg<T> &m)
		{
			add(static_cast<const device_msg<T> &>(m));
		}
		void add_buffer(struct lkdf_data *d, uint32_t mode)
		{
			struct lkdf_param p = {};

			p.from = LKDF_PARAM_USE;
			p.first = static_cast<uint16_t>(use.size());
			param.push_back(p);
			use.push_back({ d, mode, 0 });
		}
	};

	// Messages that are set, or fail, with the event of a task.
	struct pending {
		std::shared_ptr<void> hold;
		std::vector<std::function<void(int)>> set;

		template <class T> void add(device_msg<buffer<T>> &m)
		{
			m.renew();
			set.push_back([m](int error) {
				if (error)
					m.fail(std::make_exception_ptr(
						lk::error(error)));
				else
					m.set(m.value());
			});
		}
		template <class T> void add(const device_msg<T> &)
		{
		}
		static void fire(void *u, int error)
		{
			std::unique_ptr<pending> p(static_cast<pending *>(u));

			for (auto &fn : p->set)
				fn(error);
		}
	};

	template <class T>
	static bool wait(const std::function<void()> &fn,
			 const device_msg<buffer<T>> &m)
	{
		return m.subscribe(fn);
	}
	template <class T>
	static bool wait(const std::function<void()> &, const device_msg<T> &)
	{
		return false;
	}

      public:
	template <class T> using async_msg_type = device_msg<T>;
	using device_type = struct lkdf_place *;
	using kernel_type = device_kernel;
	using range_type = device_range;

	explicit device_factory(graph &g) : g_(g)
	{
	}
	// Those of lkdf and those that the program has registered.
	std::vector<device_type> devices() const
	{
		struct lkdf *rt = g_.get_runtime().get();
		std::vector<device_type> all;
		struct lkdf_place *v[LKDF_MAX_DEVICES];

		for (auto kind : { LKDF_PLACE_GPU, LKDF_PLACE_USER }) {
			int nr = lkdf_places(rt, kind, v, LKDF_MAX_DEVICES);

			all.insert(all.end(), v, v + (nr > 0 ? nr : 0));
		}
		return all;
	}
	// Constants: buffers among them stay on a device after their first use.
	template <class... Args> void send_data(device_type, Args &...)
	{
	}
	// A wish, and only for bytes that nobody is still to make.
	template <class T>
	void begin_data(device_type d, const device_msg<buffer<T>> &m)
	{
		if (m.is_set())
			lkdf_data_prefetch(m.value().get(), d, nullptr);
	}
	template <class... Args>
	void send_kernel(device_type d, const kernel_type &k,
			 const range_type &r, Args &...args)
	{
		auto p = std::make_unique<pending>();
		struct lkdf_event done;
		struct lkdf_task t = {};
		maker m;

		m.arg.resize(sizeof(r.get()));
		std::memcpy(m.arg.data(), r.get().data(), m.arg.size());
		(m.add(args), ...);
		(p->add(args), ...);
		t.size = sizeof(t);
		t.kind = k.kind(typeid(std::tuple<Args *...>), m.param,
				m.arg.size());
		t.arg = m.arg.data();
		t.place = d;
		t.use = m.use.data();
		t.nr_use = static_cast<uint32_t>(m.use.size());
		must(lkdf_submit(k.get_runtime(), nullptr, &t, &done));
		p->hold = g_.reserve();
		int rc = lkdf_event_call(done, pending::fire, p.get());
		if (rc >= 0)
			p.release();
		lkdf_event_put(done);
		must(rc);
	}
	// fn is called when the kernel that changes an argument has ended.
	template <class Fn, class... Args>
	void finalize(device_type, Fn fn, Args &...args)
	{
		std::function<void()> call = std::move(fn);

		if (!(wait(call, args) || ...))
			call();
	}
};

} // namespace lk::flow

#endif
