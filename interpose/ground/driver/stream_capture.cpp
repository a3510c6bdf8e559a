// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/stream_capture.h"

#include "interpose/ground/driver/driver_queries.h"

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
