// SPDX-License-Identifier: Apache-2.0
//
// The functions through which PyTorch's allocator is noticed. They run under its device mutex,
// perhaps with the GIL held: nothing here waits for either.
#include <cstddef>

#include "interpose/door/entry/trace_tracker.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/loader/hook_table.h"
#include "interpose/sight/autograd/real_behind.h"

namespace {

using memtrace::hook_id;
namespace tracker = memtrace::trace_tracker;

// c10::Device, passed in one register.
struct c10_device {
  signed char type;
  signed char index;
};
constexpr signed char cuda_type = 1;

bool is_cuda(c10_device device) noexcept {
  return device.type == cuda_type && device.index >= 0;
}

// c10::cuda::CUDAStream, returned in two registers.
struct c10_cuda_stream {
  std::uint64_t words[2];
};

}  // namespace

#define REPORT_USAGE _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define REPORT_OUT_OF_MEMORY _ZN3c1029reportOutOfMemoryToProfilerElmmNS_6DeviceE
#define CURRENT_STREAM _ZN3c104cuda20getCurrentCUDAStreamEa

MEMTRACE_EXPORTED void REPORT_USAGE(void* pointer, std::int64_t bytes, std::size_t allocated,
                                    std::size_t reserved, c10_device device) {
  if (is_cuda(device)) {
    tracker::report_usage({.device = static_cast<std::uint8_t>(device.index),
                           .address = reinterpret_cast<std::uintptr_t>(pointer),
                           .block_bytes = bytes,
                           .allocated = allocated,
                           .reserved = reserved});
  }
  auto* const real = memtrace::real_function<decltype(REPORT_USAGE)>(hook_id::REPORT_USAGE);
  if (real != nullptr) real(pointer, bytes, allocated, reserved, device);
}

MEMTRACE_EXPORTED void REPORT_OUT_OF_MEMORY(std::int64_t bytes, std::size_t allocated,
                                            std::size_t reserved, c10_device device) {
  if (is_cuda(device)) {
    tracker::report_out_of_memory(static_cast<std::uint8_t>(device.index),
                                  static_cast<std::uint64_t>(bytes));
  }
  auto* const real =
      memtrace::real_function<decltype(REPORT_OUT_OF_MEMORY)>(hook_id::REPORT_OUT_OF_MEMORY);
  if (real != nullptr) real(bytes, allocated, reserved, device);
}

// Asked for before every allocation, outside the allocator's mutex: the earliest moment to attach
// at. Afterwards a load and a jump.
MEMTRACE_EXPORTED c10_cuda_stream CURRENT_STREAM(signed char device) {
  if (!tracker::is_settled()) [[unlikely]]
    tracker::attach_before_allocating();
  return memtrace::autograd::real_behind<decltype(CURRENT_STREAM)>(
      hook_id::CURRENT_STREAM, __builtin_return_address(0))(device);
}
