/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The names of an engine's variables, see engine.hpp. */
#ifndef REGISTRY_HPP
#define REGISTRY_HPP

#include <lkdf/lkdf.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <unordered_map>

namespace engine
{

using VarHandle = lkdf_data *;

/* Names of variables. It owns them; a handle lives until its Delete(). */
class VarRegistry
{
	lkdf *rt;
	std::mutex lock;
	std::unordered_map<std::string, VarHandle> vars;

      public:
	explicit VarRegistry(lkdf *runtime) : rt(runtime)
	{
	}
	VarRegistry(const VarRegistry &) = delete;
	VarRegistry &operator=(const VarRegistry &) = delete;
	~VarRegistry()
	{
		for (auto &v : vars)
			lkdf_data_put(v.second);
	}

	/* nullptr: the name is taken, or no memory. */
	VarHandle Register(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		lkdf_data_attr a{};
		a.size = sizeof(a);
		a.name = name;
		/* A byte with a value, so that it may be read at once */
		a.bytes = 1;
		a.init = "";
		VarHandle v;
		if (lkdf_data_create(rt, &a, &v))
			return nullptr;
		vars[name] = v;
		return v;
	}

	/* nullptr: there is none of that name. */
	VarHandle Lookup(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto it = vars.find(name);
		return it == vars.end() ? nullptr : it->second;
	}

	/* Goes after the pushes that use it; does not wait. */
	int Delete(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto it = vars.find(name);
		if (it == vars.end())
			return -ENOENT;
		lkdf_data_put(it->second);
		vars.erase(it);
		return 0;
	}
};

} // namespace engine

#endif
