// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/modules.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "simulator/core/config.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator::modules {
namespace {

struct module_object;

struct function_object {
  module_object* owner;
  std::string name;
  std::map<int, int> attributes;
};

struct module_object {
  std::map<std::string, std::unique_ptr<function_object>> functions;
  std::map<std::string, address_t> globals;
};

// Large enough for the tables that device code keeps in globals; their true size is in the image.
constexpr std::size_t global_bytes = 64 << 10;

struct state_type {
  std::mutex mutex;
  std::map<module_object*, std::unique_ptr<module_object>> modules;
  std::map<function_object*, module_object*> functions;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

module_object* find_module(CUmodule handle) {
  auto* one = reinterpret_cast<module_object*>(handle);
  return state().modules.count(one) != 0 ? one : nullptr;
}

function_object* find_function(CUfunction handle) {
  auto* one = reinterpret_cast<function_object*>(handle);
  return state().functions.count(one) != 0 ? one : nullptr;
}

int fixed_attribute(CUfunction_attribute which) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 32;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return config().model.capability_major * 10 + config().model.capability_minor;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return 48 << 10;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return -1;
    default:
      return 0;
  }
}

}  // namespace

CUmodule load() {
  auto owned = std::make_unique<module_object>();
  module_object* one = owned.get();
  const std::lock_guard lock(state().mutex);
  state().modules[one] = std::move(owned);
  return reinterpret_cast<CUmodule>(one);
}

bool unload(CUmodule handle) {
  const std::lock_guard lock(state().mutex);
  module_object* one = find_module(handle);
  if (one == nullptr) return false;
  for (const auto& [name, function] : one->functions) state().functions.erase(function.get());
  for (const auto& [name, address] : one->globals) {
    [[maybe_unused]] const cudaError_t freed = free_device(address);
  }
  state().modules.erase(one);
  return true;
}

CUfunction function(CUmodule handle, const char* name) {
  const std::lock_guard lock(state().mutex);
  module_object* one = find_module(handle);
  if (one == nullptr) return nullptr;
  std::unique_ptr<function_object>& entry = one->functions[name];
  if (entry == nullptr) {
    entry = std::make_unique<function_object>(function_object{one, name, {}});
    state().functions[entry.get()] = one;
  }
  return reinterpret_cast<CUfunction>(entry.get());
}

const char* name_of(CUfunction handle) {
  const std::lock_guard lock(state().mutex);
  const function_object* one = find_function(handle);
  return one == nullptr ? nullptr : one->name.c_str();
}

CUmodule module_of(CUfunction handle) {
  const std::lock_guard lock(state().mutex);
  const function_object* one = find_function(handle);
  return one == nullptr ? nullptr : reinterpret_cast<CUmodule>(one->owner);
}

CUdeviceptr global(CUmodule handle, const char* name, int device, std::size_t& bytes) {
  const std::lock_guard lock(state().mutex);
  module_object* one = find_module(handle);
  if (one == nullptr) return 0;
  address_t& address = one->globals[name];
  if (address == 0 && allocate_device(device, global_bytes, address) != cudaSuccess) return 0;
  bytes = global_bytes;
  return address;
}

int attribute(CUfunction handle, CUfunction_attribute which) {
  const std::lock_guard lock(state().mutex);
  const function_object* one = find_function(handle);
  if (one == nullptr) return fixed_attribute(which);
  const auto set = one->attributes.find(static_cast<int>(which));
  return set == one->attributes.end() ? fixed_attribute(which) : set->second;
}

void set_attribute(CUfunction handle, CUfunction_attribute which, int value) {
  const std::lock_guard lock(state().mutex);
  if (function_object* one = find_function(handle)) {
    one->attributes[static_cast<int>(which)] = value;
  }
}

}  // namespace memtrace::simulator::modules
