// SPDX-License-Identifier: Apache-2.0
//
// The functions that include/memtrace/memtrace.h finds by name (that header declares functions of
// the same names, and is not included here). None begins a recording.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "interpose/door/api/expectations.h"
#include "interpose/door/api/names.h"
#include "interpose/door/api/open_phases.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/heap_scan_moments.h"

namespace {

using memtrace::errno_keeper;
using memtrace::recorder;
namespace expectations = memtrace::expectations;
namespace format = memtrace::format;
namespace names = memtrace::names;
namespace open_phases = memtrace::open_phases;
namespace session = memtrace::session;

const names::name* name_of(const char* text) noexcept {
  return text == nullptr || *text == '\0' ? nullptr : names::intern(text);
}

}  // namespace

MEMTRACE_EXPORTED int memtrace_is_active() {
  return session::is_impossible() ? 0 : 1;
}

MEMTRACE_EXPORTED void memtrace_phase_begin(const char* name) {
  const errno_keeper errno_stays;
  if (!session::is_impossible()) open_phases::begin(format::phase_source::user, name_of(name));
}

MEMTRACE_EXPORTED void memtrace_phase_end() {
  const errno_keeper errno_stays;
  if (!session::is_impossible()) open_phases::end(format::phase_source::user);
}

MEMTRACE_EXPORTED void memtrace_step(const char* name) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  to->step({.source = format::step_source::user, .name = names::text_id(*to, name_of(name))});
  memtrace::heap_scan_moments::program_stepped(*to);
}

MEMTRACE_EXPORTED void memtrace_census() {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to != nullptr) memtrace::heap_scan_moments::program_asks(*to);
}

MEMTRACE_EXPORTED void memtrace_annotate(const void* address, const char* category,
                                         const char* name) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr || address == nullptr) return;
  const std::array<memtrace::storage_event, 1> found{
      memtrace::storage_event{.role = format::storage_role::user,
                              .address = reinterpret_cast<std::uintptr_t>(address),
                              .name = names::text_id(*to, name_of(name)),
                              .detail = names::text_id(*to, name_of(category))}};
  to->storages(found);
}

MEMTRACE_EXPORTED void memtrace_counter(const char* name, double value) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr || name == nullptr) return;
  to->counter(std::string_view(name).substr(0, names::max_bytes), value);
}

MEMTRACE_EXPORTED void memtrace_expect_growth(const char* what, const char* why, const char* file,
                                              unsigned line) {
  const errno_keeper errno_stays;
  if (session::is_impossible()) return;
  expectations::add(
      {.what = name_of(what), .why = name_of(why), .said_in = name_of(file), .said_at = line});
}

// For the Python package: `object` is one of Python's.
MEMTRACE_EXPORTED void memtrace_expect_growth_of(const void* object, const char* why,
                                                 const char* file, unsigned line) {
  const errno_keeper errno_stays;
  if (session::is_impossible() || object == nullptr) return;
  expectations::add_object(reinterpret_cast<std::uintptr_t>(object),
                           {.why = name_of(why), .said_in = name_of(file), .said_at = line});
}

MEMTRACE_EXPORTED std::size_t memtrace_trace_path(char* to, std::size_t bytes) {
  const errno_keeper errno_stays;
  const recorder* const from = session::active();
  if (from == nullptr) return 0;
  const std::string& path = from->path();
  if (bytes > path.size()) std::memcpy(to, path.c_str(), path.size() + 1);
  return path.size();
}

MEMTRACE_EXPORTED int memtrace_watch_begin() {
  const errno_keeper errno_stays;
  return !session::is_impossible() && memtrace::heap_scan_moments::begin_watch() ? 1 : 0;
}

MEMTRACE_EXPORTED int memtrace_watch_read(std::uint64_t* now, std::uint64_t* peak,
                                          unsigned devices) {
  const errno_keeper errno_stays;
  return memtrace::heap_scan_moments::read_watch(now, peak, devices);
}

MEMTRACE_EXPORTED void memtrace_watch_end() {
  const errno_keeper errno_stays;
  memtrace::heap_scan_moments::end_watch();
}
