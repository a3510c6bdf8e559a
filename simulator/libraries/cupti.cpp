// SPDX-License-Identifier: Apache-2.0
//
// CUPTI: one subscriber at a time, as CUPTI up to 13.0 has it, and the activity API. Records of
// memory, pools, kernels, launches and prefetched unified memory (cupti_records.cpp); what copies
// and other calls take is not told.
#include <cupti.h>

#include <atomic>
#include <mutex>

#include "simulator/core/export.h"
#include "simulator/libraries/cupti_buffers.h"
#include "simulator/libraries/cupti_state.h"
#include "simulator/libraries/cupti_types.h"

namespace memtrace::simulator::cupti {
namespace {

struct subscription {
  std::mutex lock;
  bool is_held = false;
  char handle = 0;  // its address is the handle
};

subscription& the_subscription() {
  static auto* const one = new subscription;
  return *one;
}

const char* name_of(CUptiResult code) {
  switch (code) {
    case CUPTI_SUCCESS:
      return "CUPTI_SUCCESS";
    case CUPTI_ERROR_INVALID_PARAMETER:
      return "CUPTI_ERROR_INVALID_PARAMETER";
    case CUPTI_ERROR_INVALID_KIND:
      return "CUPTI_ERROR_INVALID_KIND";
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return "CUPTI_ERROR_MAX_LIMIT_REACHED";
    case CUPTI_ERROR_QUEUE_EMPTY:
      return "CUPTI_ERROR_QUEUE_EMPTY";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    default:
      return "CUPTI_ERROR_UNKNOWN";
  }
}

}  // namespace

MEMTRACE_API CUptiResult cuptiGetVersion(uint32_t* to) {
  if (to == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *to = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiGetResultString(CUptiResult code, const char** to) {
  if (to == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *to = name_of(code);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiGetTimestamp(uint64_t* to) {
  if (to == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *to = timestamp();
  return CUPTI_SUCCESS;
}

MEMTRACE_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* to, CUpti_CallbackFunc, void*) {
  if (to == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  subscription& one = the_subscription();
  const std::lock_guard holder(one.lock);
  if (one.is_held) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  one.is_held = true;
  *to = reinterpret_cast<CUpti_SubscriberHandle>(&one.handle);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  subscription& one = the_subscription();
  const std::lock_guard holder(one.lock);
  if (!one.is_held || handle != reinterpret_cast<CUpti_SubscriberHandle>(&one.handle)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  one.is_held = false;
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiFinalize() {
  buffers::flush();
  disable_all();
  subscription& one = the_subscription();
  const std::lock_guard holder(one.lock);
  one.is_held = false;
  return CUPTI_SUCCESS;
}

MEMTRACE_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return enable(kind, true);
}
MEMTRACE_API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return enable(kind, false);
}
MEMTRACE_API CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  buffers::use(request, complete);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  use_clock(function);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiActivityFlushAll(uint32_t) {
  if (!buffers::in_use()) return CUPTI_ERROR_INVALID_OPERATION;
  buffers::flush();
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds) {
  buffers::set_period(milliseconds);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig* config, uint32_t count) {
  return config == nullptr || count == 0 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

MEMTRACE_API CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                                    CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  at = at == nullptr ? buffer : at + record_bytes((*record)->kind);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = buffers::take_dropped();
  return CUPTI_SUCCESS;
}

MEMTRACE_API CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                                uint64_t id) {
  push_external(kind, id);
  return CUPTI_SUCCESS;
}
MEMTRACE_API CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                               uint64_t* last) {
  std::uint64_t id = 0;
  if (!pop_external(kind, id)) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = id;
  return CUPTI_SUCCESS;
}

}  // namespace memtrace::simulator::cupti
