// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/driver_queries.h"

#include <atomic>
#include <new>

#include "interpose/ground/loader/real_function.h"

namespace memtrace {
namespace {

constexpr int capture_mode_relaxed = 2;  // cuda.h

template <typename Function>
void look_up(const char* name, Function*& to) noexcept {
  to = reinterpret_cast<Function*>(find_real_function(library_family::driver, name));
}

bool fill(driver_queries& all) noexcept {
  look_up("cuCtxGetCurrent", all.context);
  if (all.context == nullptr) return false;
  look_up("cuCtxGetDevice", all.context_device);
  look_up("cuMemGetInfo_v2", all.memory);
  look_up("cuThreadExchangeStreamCaptureMode", all.exchange_mode);
  look_up("cuDeviceGet", all.device);
  look_up("cuDeviceTotalMem_v2", all.total);
  look_up("cuDeviceGetName", all.name);
  look_up("cuDeviceGetAttribute", all.attribute);
  look_up("cuDeviceGetPCIBusId", all.pci_bus_id);
  look_up("cuDeviceGetDefaultMemPool", all.default_pool);
  look_up("cuDeviceGetMemPool", all.current_pool);
  look_up("cuMemPoolGetAttribute", all.pool_attribute);
  look_up("cuDeviceGetGraphMemAttribute", all.graph_attribute);
  look_up("cuDeviceGetCount", all.count);
  look_up("cuDevicePrimaryCtxGetState", all.primary_state);
  look_up("cuStreamGetDevice", all.stream_device);
  look_up("cuMemGetAddressRange_v2", all.address_range);
  look_up("cuStreamGetCaptureInfo_v2", all.capture);
  look_up("cuStreamGetCaptureInfo_v2_ptsz", all.capture_per_thread);
  return all.context_device != nullptr && all.memory != nullptr && all.device != nullptr &&
         all.total != nullptr && all.name != nullptr && all.attribute != nullptr &&
         all.pci_bus_id != nullptr;
}

}  // namespace

const driver_queries* driver_queries::find() noexcept {
  static constinit std::atomic<const driver_queries*> known{nullptr};
  const driver_queries* ready = known.load(std::memory_order_acquire);
  if (ready != nullptr) [[likely]]
    return ready;
  // Without a lock: the dynamic linker has its own, and calls CUDA under it (constructors); and a
  // child that is forked meanwhile must not find one held.
  driver_queries found{};
  if (!fill(found)) return nullptr;
  const auto* const made = new (std::nothrow) driver_queries(found);
  if (made == nullptr) return nullptr;
  if (known.compare_exchange_strong(ready, made, std::memory_order_acq_rel)) return made;
  delete made;
  return ready;
}

bool driver_queries::has_context() const noexcept {
  void* found = nullptr;
  return context(&found) == 0 && found != nullptr;
}

driver_queries::memory_now driver_queries::ask_memory() const noexcept {
  const capture_exempt exempt(*this);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (memory(&free_bytes, &total_bytes) != 0) return {};
  return {free_bytes, total_bytes};
}

capture_exempt::capture_exempt(const driver_queries& driver) noexcept
    : driver_(driver), mode_(capture_mode_relaxed) {
  exchanged_ = driver.exchange_mode != nullptr && driver.exchange_mode(&mode_) == 0;
}

capture_exempt::~capture_exempt() {
  if (exchanged_) (void)driver_.exchange_mode(&mode_);
}

}  // namespace memtrace

namespace memtrace::stream_capture {
namespace {

constexpr int status_active = 1;  // CU_STREAM_CAPTURE_STATUS_ACTIVE

bool is_per_thread(hook_id id) noexcept {
  const std::string_view name = hooks[static_cast<unsigned>(id)].name;
  return name.ends_with("_ptsz");
}

// The legacy stream cannot be captured.
bool is_legacy(const void* stream, bool per_thread) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  return handle == 1 || (handle == 0 && !per_thread);
}

}  // namespace

const char* captured_name(hook_id id) noexcept {
  switch (id) {
    case hook_id::cudaMallocAsync:
    case hook_id::cudaMallocAsync_ptsz:
      return "cudaMallocAsync (captured)";
    case hook_id::cudaMallocFromPoolAsync:
    case hook_id::cudaMallocFromPoolAsync_ptsz:
      return "cudaMallocFromPoolAsync (captured)";
    case hook_id::cudaFreeAsync:
    case hook_id::cudaFreeAsync_ptsz:
      return "cudaFreeAsync (captured)";
    case hook_id::cuMemAllocAsync:
    case hook_id::cuMemAllocAsync_ptsz:
      return "cuMemAllocAsync (captured)";
    case hook_id::cuMemAllocFromPoolAsync:
    case hook_id::cuMemAllocFromPoolAsync_ptsz:
      return "cuMemAllocFromPoolAsync (captured)";
    case hook_id::cuMemFreeAsync:
    case hook_id::cuMemFreeAsync_ptsz:
      return "cuMemFreeAsync (captured)";
    default:
      return nullptr;
  }
}

std::optional<std::uint64_t> graph_of(hook_id id, void* stream) noexcept {
  const bool is_ptsz = is_per_thread(id);
  if (is_legacy(stream, is_ptsz)) return std::nullopt;
  const driver_queries* const driver = driver_queries::find();
  if (driver == nullptr) return std::nullopt;
  auto* const ask = is_ptsz ? driver->capture_per_thread : driver->capture;
  int status = 0;
  std::uint64_t capture = 0;
  void* graph = nullptr;
  const void* dependencies = nullptr;
  std::size_t count = 0;
  if (ask == nullptr || ask(stream, &status, &capture, &graph, &dependencies, &count) != 0 ||
      status != status_active) {
    return std::nullopt;
  }
  return reinterpret_cast<std::uintptr_t>(graph);
}

}  // namespace memtrace::stream_capture
