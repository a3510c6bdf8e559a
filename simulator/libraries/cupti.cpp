// SPDX-License-Identifier: Apache-2.0
//
// CUPTI: there is nothing to profile. torch.profiler comes up and gets no records of the GPU; what
// it measures on the CPU is real.
#include <cuda_runtime_api.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "simulator/core/export.h"

namespace memtrace::simulator::cupti {
namespace {

enum result : int { success = 0, invalid_parameter = 1, no_more_records = 12 };

constexpr std::uint32_t version = CUDART_VERSION >= 13000 ? 130001 : 22;  // CUPTI_API_VERSION

struct subscriber {
  int unused;
};

}  // namespace

MEMTRACE_API int cuptiGetVersion(std::uint32_t* to) {
  if (to == nullptr) return invalid_parameter;
  *to = version;
  return success;
}
MEMTRACE_API int cuptiGetResultString(int code, const char** to) {
  if (to == nullptr) return invalid_parameter;
  switch (code) {
    case success:
      *to = "CUPTI_SUCCESS";
      break;
    case invalid_parameter:
      *to = "CUPTI_ERROR_INVALID_PARAMETER";
      break;
    case no_more_records:
      *to = "CUPTI_ERROR_MAX_LIMIT_REACHED";
      break;
    default:
      *to = "CUPTI_ERROR_UNKNOWN";
      break;
  }
  return success;
}
MEMTRACE_API int cuptiGetTimestamp(std::uint64_t* to) {
  if (to == nullptr) return invalid_parameter;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *to = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
        static_cast<std::uint64_t>(now.tv_nsec);
  return success;
}
MEMTRACE_API int cuptiSubscribe(subscriber** to, void*, void*) {
  static subscriber only{};
  if (to == nullptr) return invalid_parameter;
  *to = &only;
  return success;
}
// Called with buffers of records, and for times: never, as there are no records.
MEMTRACE_API int cuptiActivityRegisterCallbacks(void*, void*) {
  return success;
}
MEMTRACE_API int cuptiActivityRegisterTimestampCallback(void*) {
  return success;
}
MEMTRACE_API int cuptiActivityGetNextRecord(const std::uint8_t*, std::size_t, void** record) {
  if (record != nullptr) *record = nullptr;
  return no_more_records;
}
MEMTRACE_API int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  if (dropped == nullptr) return invalid_parameter;
  *dropped = 0;
  return success;
}
MEMTRACE_API int cuptiActivityPopExternalCorrelationId(int, std::uint64_t* last) {
  if (last != nullptr) *last = 0;
  return success;
}

}  // namespace memtrace::simulator::cupti
