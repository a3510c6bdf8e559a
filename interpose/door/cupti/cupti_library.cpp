// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/cupti_library.h"

#include <dlfcn.h>

#include <initializer_list>

#include "interpose/ground/loader/real_function.h"

namespace memtrace::cupti {
namespace {

// Ours stand in front of some: the real ones are those behind.
template <typename Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(find_real_function(library_family::cupti, name));
}

void find_all(library& found) noexcept {
  find(found.version, "cuptiGetVersion");
  find(found.timestamp, "cuptiGetTimestamp");
  find(found.subscribe, "cuptiSubscribe");
  find(found.unsubscribe, "cuptiUnsubscribe");
  find(found.enable, "cuptiActivityEnable");
  find(found.disable, "cuptiActivityDisable");
  find(found.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(found.flush_all, "cuptiActivityFlushAll");
  find(found.next_record, "cuptiActivityGetNextRecord");
  find(found.dropped_records, "cuptiActivityGetNumDroppedRecords");
  find(found.flush_period, "cuptiActivityFlushPeriod");
  find(found.configure_migration, "cuptiActivityConfigureUnifiedMemoryCounter");
}

}  // namespace

bool library::is_complete() const noexcept {
  return version != nullptr && timestamp != nullptr && subscribe != nullptr &&
         unsubscribe != nullptr && enable != nullptr && disable != nullptr &&
         register_callbacks != nullptr && flush_all != nullptr && next_record != nullptr &&
         dropped_records != nullptr;
}

bool find_library(library& found) noexcept {
  find_all(found);
  if (found.is_complete()) return true;
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    // Stays loaded: its threads may call back until the process is gone.
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL) == nullptr) continue;
    find_all(found);
    if (found.is_complete()) return true;
  }
  return false;
}

}  // namespace memtrace::cupti
