// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/device.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/core/capacity.h"
#include "simulator/core/config.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/identity.h"
#include "simulator/log/log.h"

namespace memtrace::simulator {
namespace {

// A context is known by its address; what it points to is never looked at by the program. The first
// ones are the primary contexts, the others those of cuCtxCreate.
constexpr int maximum_contexts = 256;
struct context_object {
  std::atomic<bool> created{false};
  int device = -1;
  unsigned version = new_context;
};
context_object objects[maximum_contexts];

enum class kernels_of_torch : std::uint8_t { not_looked, none, loaded };

struct context_state {
  std::mutex creation;
  std::atomic<bool> active[maximum_devices]{};
  std::atomic<kernels_of_torch> kernels[maximum_devices]{};
  std::atomic<bool> initialized{false};
  std::atomic<bool> used{false};      // some context was created in this process
  std::atomic<bool> unusable{false};  // forked after that
};
context_state contexts;

thread_local int thread_device = 0;
thread_local CUcontext thread_context = nullptr;

std::string uuid_text(int physical) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "GPU-";
  const auto bytes = uuid_of(physical);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

// One entry of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID. -1: no such device.
int physical_named(const std::string& entry) {
  if (entry.rfind("GPU-", 0) == 0) {
    for (int device = 0; device < config().devices; ++device) {
      if (uuid_text(device).rfind(entry, 0) == 0) return device;
    }
    return -1;
  }
  char* end = nullptr;
  const long number = std::strtol(entry.c_str(), &end, 10);
  if (end == entry.c_str() || number < 0 || number >= config().devices) return -1;
  return static_cast<int>(number);
}

// As the driver reads it: up to the first entry that names no device.
std::vector<int> read_visible() {
  std::vector<int> visible;
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) {
    for (int device = 0; device < config().devices; ++device) visible.push_back(device);
    return visible;
  }
  std::string rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const int device = physical_named(rest.substr(0, comma));
    if (device < 0) break;
    visible.push_back(device);
    if (comma == std::string::npos) break;
    rest.erase(0, comma + 1);
  }
  return visible;
}

const std::vector<int>& visible_devices() {
  static const auto* const devices = new std::vector<int>(read_visible());
  return *devices;
}

void in_forked_child() {
  if (contexts.used.load()) contexts.unusable.store(true);
  capacity::after_fork_in_child();
}

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, in_forked_child);

}  // namespace

int device_count() {
  return static_cast<int>(visible_devices().size());
}

bool valid_device(int device) {
  return device >= 0 && device < device_count();
}

int physical_device(int device) {
  return visible_devices()[static_cast<std::size_t>(device)];
}

int current_device() {
  return thread_device;
}
void set_current_device(int device) {
  thread_device = device;
}

CUcontext current_context() {
  return thread_context;
}

void set_current_context(CUcontext context) {
  thread_context = context;
  if (const int device = context_device(context); device >= 0) thread_device = device;
}

bool context_active(int device) {
  return contexts.active[device].load(std::memory_order_acquire);
}

CUcontext primary_context(int device) {
  return reinterpret_cast<CUcontext>(&objects[device]);
}

int context_device(CUcontext context) {
  auto* object = reinterpret_cast<context_object*>(context);
  if (object < objects || object >= objects + maximum_contexts) return -1;
  const auto index = static_cast<int>(object - objects);
  if (index < maximum_devices) return valid_device(index) ? index : -1;
  return object->created.load() ? object->device : -1;
}

unsigned context_version(CUcontext context) {
  return context_device(context) < 0 ? 0 : reinterpret_cast<context_object*>(context)->version;
}

void set_initialized() {
  contexts.initialized.store(true, std::memory_order_relaxed);
}

bool initialized() {
  return !unusable_after_fork() && contexts.initialized.load(std::memory_order_relaxed);
}

CUresult check_context(unsigned version) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (thread_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const int device = context_device(thread_context);
  const bool gone =
      device < 0 || (thread_context == primary_context(device) && !context_active(device));
  if (gone) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context_version(thread_context) == version ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

cudaError_t create_context(int device, CUcontext& result, unsigned version) {
  if (unusable_after_fork()) return cudaErrorInitializationError;
  const std::lock_guard lock(contexts.creation);
  for (int i = maximum_devices; i < maximum_contexts; ++i) {
    if (objects[i].created.load()) continue;
    if (!charge(device, constant(constant_id::context))) return cudaErrorMemoryAllocation;
    objects[i].device = device;
    objects[i].version = version;
    objects[i].created.store(true);
    set_initialized();
    contexts.used.store(true);
    result = reinterpret_cast<CUcontext>(&objects[i]);
    return cudaSuccess;
  }
  return cudaErrorMemoryAllocation;
}

cudaError_t destroy_context(CUcontext context) {
  const int device = context_device(context);
  if (device < 0 || context == primary_context(device)) return cudaErrorDeviceUninitialized;
  const std::lock_guard lock(contexts.creation);
  reinterpret_cast<context_object*>(context)->created.store(false);
  uncharge(device, constant(constant_id::context));
  if (thread_context == context) thread_context = nullptr;
  return cudaSuccess;
}

bool unusable_after_fork() {
  return contexts.unusable.load(std::memory_order_relaxed);
}

cudaError_t activate_context(int device) {
  if (unusable_after_fork()) {
    log::debug("no context in a child of a process that had one before it was forked");
    return cudaErrorInitializationError;
  }
  if (context_active(device)) return cudaSuccess;
  const std::lock_guard lock(contexts.creation);
  if (context_active(device)) return cudaSuccess;
  if (!charge(device, constant(constant_id::context))) return cudaErrorMemoryAllocation;
  contexts.used.store(true);
  set_initialized();
  contexts.active[device].store(true, std::memory_order_release);
  log::debug("context on device {}", device);
  return cudaSuccess;
}

void deactivate_context(int device) {
  const std::lock_guard lock(contexts.creation);
  if (!context_active(device)) return;
  contexts.active[device].store(false, std::memory_order_release);
  uncharge(device, constant(constant_id::context));
  const auto kernels = contexts.kernels[device].exchange(kernels_of_torch::not_looked);
  if (kernels == kernels_of_torch::loaded) {
    uncharge(device, constant(constant_id::torch_kernels));
  }
}

void load_kernels(int device) {
  const std::uint64_t bytes = constant(constant_id::torch_kernels);
  auto& kernels = contexts.kernels[device];
  if (bytes == 0 || kernels.load(std::memory_order_relaxed) != kernels_of_torch::not_looked) return;
  void* const torch = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch != nullptr) dlclose(torch);
  const std::lock_guard lock(contexts.creation);
  if (!context_active(device) || kernels.load() != kernels_of_torch::not_looked) return;
  const bool is_loaded = torch != nullptr && charge(device, bytes);
  kernels.store(is_loaded ? kernels_of_torch::loaded : kernels_of_torch::none);
}

cudaError_t ensure_context(int device) {
  if (!valid_device(device)) {
    return device_count() == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice;
  }
  if (const cudaError_t error = activate_context(device); error != cudaSuccess) return error;
  thread_context = primary_context(device);
  return cudaSuccess;
}

cudaError_t ensure_context() {
  const auto* const object = reinterpret_cast<const context_object*>(thread_context);
  const bool of_the_program = object >= objects + maximum_devices;
  if (of_the_program && object->created.load()) return cudaSuccess;
  return ensure_context(current_device());
}

}  // namespace memtrace::simulator
