// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/kernels.h"

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator::kernels {
namespace {

struct device_variable {
  std::size_t bytes = 0;
  address_t address[maximum_devices] = {};
};

struct kernel {
  const char* name = nullptr;
  const void* fat_binary = nullptr;
};

// Never destroyed: libraries register and unregister before and after everything else.
struct registry {
  std::mutex lock;
  std::vector<std::pair<const void*, kernel>> added;  // not yet in `known`
  std::unordered_map<const void*, kernel> known;
  std::unordered_map<const void*, device_variable> variables;
};

registry& all() {
  static registry* const one = new registry;
  return *one;
}

kernel find(const void* host_function) {
  const std::scoped_lock guard(all().lock);
  for (const auto& [function, registered] : all().added) all().known[function] = registered;
  all().added.clear();
  const auto found = all().known.find(host_function);
  return found == all().known.end() ? kernel{} : found->second;
}

}  // namespace

void add(const void* host_function, const char* name, const void* fat_binary) {
  const std::scoped_lock guard(all().lock);
  all().added.emplace_back(host_function, kernel{name, fat_binary});
}

const char* name_of(const void* host_function) {
  return find(host_function).name;
}

const void* fat_binary_of(const void* host_function) {
  return find(host_function).fat_binary;
}

void add_variable(const void* host_variable, std::size_t bytes) {
  const std::scoped_lock guard(all().lock);
  all().variables[host_variable].bytes = bytes;
}

cudaError_t variable(const void* host_variable, int device, void*& address) {
  if (const cudaError_t error = ensure_context(device); error != cudaSuccess) return error;
  const std::scoped_lock guard(all().lock);
  const auto found = all().variables.find(host_variable);
  if (found == all().variables.end()) return cudaErrorInvalidSymbol;
  address_t& at = found->second.address[device];
  if (at == 0) {
    const cudaError_t error = allocate_device(device, found->second.bytes, at);
    if (error != cudaSuccess) return error;
  }
  address = reinterpret_cast<void*>(at);
  return cudaSuccess;
}

cudaError_t variable_size(const void* host_variable, std::size_t& bytes) {
  const std::scoped_lock guard(all().lock);
  const auto found = all().variables.find(host_variable);
  if (found == all().variables.end()) return cudaErrorInvalidSymbol;
  bytes = found->second.bytes;
  return cudaSuccess;
}

}  // namespace memtrace::simulator::kernels
