// SPDX-License-Identifier: Apache-2.0
//
// Pushed ranges are phases of their thread. Started ones may overlap and end in another thread:
// beginning and end are recorded with the name, each in the thread it happens in. Marks are
// instants.
#include "interpose/door/api/nvtx.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "interpose/door/api/nvtx_text.h"
#include "interpose/door/api/open_phases.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"

MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t));

namespace memtrace::nvtx {
namespace {

using format::phase_action;
using format::phase_source;

// The started ranges that have not ended; the oldest are forgotten, and their ends not recorded.
struct started_range {
  std::atomic<std::uint64_t> id{0};
  std::atomic<const names::name*> name{nullptr};
  std::atomic<std::uint32_t> generation{0};  // of the recording that has its beginning
};
constinit std::array<started_range, 512> started;
constinit std::atomic<std::uint64_t> last_id{0};

void record(recorder& to, phase_action action, const names::name* name) noexcept {
  to.phase({.action = action, .source = phase_source::nvtx, .name = names::text_id(to, name)});
}

void mark(const names::name* name) noexcept {
  if (recorder* const to = session::active(); to != nullptr) {
    record(*to, phase_action::instant, name);
  }
}

std::uint64_t start(const names::name* name) noexcept {
  const std::uint64_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  started_range& range = started[id % started.size()];
  recorder* const to = session::active();
  range.name.store(name, std::memory_order_relaxed);
  range.generation.store(to == nullptr ? 0 : to->generation(), std::memory_order_relaxed);
  range.id.store(id, std::memory_order_release);
  if (to != nullptr) record(*to, phase_action::begin, name);
  return id;
}

void end(std::uint64_t id) noexcept {
  started_range& range = started[id % started.size()];
  const names::name* const name = range.name.load(std::memory_order_relaxed);
  const std::uint32_t generation = range.generation.load(std::memory_order_relaxed);
  if (id == 0 || !range.id.compare_exchange_strong(id, 0, std::memory_order_acq_rel)) return;
  recorder* const to = session::active();
  if (to != nullptr && to->generation() == generation) record(*to, phase_action::end, name);
}

int push(const names::name* name) noexcept {
  open_phases::begin(phase_source::nvtx, name);
  return no_levels;
}

int pop() noexcept {
  open_phases::end(phase_source::nvtx);
  return no_levels;
}

void serve_mark(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  if (!is_library(domain)) mark(name_of(domain, what));
}
std::uint64_t serve_start(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  return is_library(domain) ? 0 : start(name_of(domain, what));
}
int serve_push(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  return is_library(domain) ? no_levels : push(name_of(domain, what));
}
int serve_pop(const handle* domain) {
  const errno_keeper errno_stays;
  return is_library(domain) ? no_levels : pop();
}
void serve_end(const handle*, std::uint64_t id) {
  const errno_keeper errno_stays;
  end(id);
}

template <typename Character>
void serve_plain_mark(const Character* text) {
  const errno_keeper errno_stays;
  mark(name_of(text));
}
template <typename Character>
std::uint64_t serve_plain_start(const Character* text) {
  const errno_keeper errno_stays;
  return start(name_of(text));
}
template <typename Character>
int serve_plain_push(const Character* text) {
  const errno_keeper errno_stays;
  return push(name_of(text));
}
template <typename Character>
const handle* serve_create(const Character* text) {
  const errno_keeper errno_stays;
  return handle_of_domain(name_of(text));
}
template <typename Character>
const handle* serve_register(const handle*, const Character* text) {
  const errno_keeper errno_stays;
  return handle_of(name_of(text));
}

// A function that serves an NVTX call, and where an instance keeps the pointer to it.
struct served_call {
  int module;
  unsigned index;
  function serve;
};

template <typename Function>
served_call without_domain(core_call call, Function* serve) noexcept {
  return {core_module, static_cast<unsigned>(call), reinterpret_cast<function>(serve)};
}
template <typename Function>
served_call with_domain(domain_call call, Function* serve) noexcept {
  return {domains_module, static_cast<unsigned>(call), reinterpret_cast<function>(serve)};
}

const served_call all_calls[] = {
    without_domain(
        core_call::mark_ex, +[](const event_attributes* what) { serve_mark(nullptr, what); }),
    without_domain(core_call::mark_a, &serve_plain_mark<char>),
    without_domain(core_call::mark_w, &serve_plain_mark<wchar_t>),
    without_domain(
        core_call::range_start_ex,
        +[](const event_attributes* what) { return serve_start(nullptr, what); }),
    without_domain(core_call::range_start_a, &serve_plain_start<char>),
    without_domain(core_call::range_start_w, &serve_plain_start<wchar_t>),
    without_domain(
        core_call::range_end, +[](std::uint64_t id) { serve_end(nullptr, id); }),
    without_domain(
        core_call::range_push_ex,
        +[](const event_attributes* what) { return serve_push(nullptr, what); }),
    without_domain(core_call::range_push_a, &serve_plain_push<char>),
    without_domain(core_call::range_push_w, &serve_plain_push<wchar_t>),
    without_domain(
        core_call::range_pop, +[] { return serve_pop(nullptr); }),
    with_domain(domain_call::mark_ex, &serve_mark),
    with_domain(domain_call::range_start_ex, &serve_start),
    with_domain(domain_call::range_end, &serve_end),
    with_domain(domain_call::range_push_ex, &serve_push),
    with_domain(domain_call::range_pop, &serve_pop),
    with_domain(domain_call::register_string_a, &serve_register<char>),
    with_domain(domain_call::register_string_w, &serve_register<wchar_t>),
    with_domain(domain_call::create_a, &serve_create<char>),
    with_domain(domain_call::create_w, &serve_create<wchar_t>),
};

constexpr char tool_variable[] = "NVTX_INJECTION64_PATH";

using ask_environment = char*(const char*);
std::atomic<ask_environment*> real_getenv{nullptr};
char own_path[PATH_MAX];
std::atomic<bool> is_offered{false};

// Before anybody is traced, and not when it is first asked: looking a name up may allocate, and an
// allocator that is just starting asks the environment.
[[gnu::constructor]] void find_real() noexcept {
  real_getenv.store(reinterpret_cast<ask_environment*>(dlsym(RTLD_NEXT, "getenv")),
                    std::memory_order_relaxed);
}

// As the C library's does.
char* look_up(const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return nullptr;
}

// False in a process that has inherited the variable but not the preload: NVTX has just loaded us,
// nothing else of the process is traced.
bool is_preloaded() noexcept {
  void* const process = dlopen(nullptr, RTLD_LAZY);
  return process != nullptr && dlsym(process, "InitializeInjectionNvtx2") ==
                                   reinterpret_cast<void*>(&InitializeInjectionNvtx2);
}

int install(const void* (*tables)(std::uint32_t)) noexcept {
  const auto* const callbacks = static_cast<const callbacks_table*>(tables(callbacks_table_id));
  if (callbacks == nullptr || callbacks->bytes < sizeof(callbacks_table)) return 0;
  for (const served_call& call : all_calls) {
    function_table table = nullptr;
    unsigned entries = 0;
    if (callbacks->find_table(call.module, &table, &entries) == 0 || table == nullptr) return 0;
    if (call.index < entries && table[call.index] != nullptr) *table[call.index] = call.serve;
  }
  return 1;
}

}  // namespace

void offer() noexcept {
  if (!settings::is_on(capability::nvtx)) return;
  Dl_info ours;
  if (dladdr(reinterpret_cast<void*>(&InitializeInjectionNvtx2), &ours) == 0) return;
  if (realpath(ours.dli_fname, own_path) == nullptr) return;
  is_offered.store(true, std::memory_order_release);
}

}  // namespace memtrace::nvtx

// NVTX calls this at the first use of each of its instances; 0 means that there is no tool.
MEMTRACE_EXPORTED int InitializeInjectionNvtx2(const void* (*tables)(std::uint32_t)) {
  const memtrace::errno_keeper errno_stays;
  using namespace memtrace;
  if (session::is_impossible() || !settings::is_on(capability::nvtx) || !nvtx::is_preloaded())
    return 0;
  return nvtx::install(tables);
}

// Each instance of NVTX asks the environment for the tool's path at its first call. Ours is in the
// answer and never in the environment, which children inherit: those without the preload would
// load a library that serves them nothing.
MEMTRACE_EXPORTED char* getenv(const char* name) noexcept {
  using namespace memtrace::nvtx;
  auto* const real = real_getenv.load(std::memory_order_relaxed);
  char* const found = real == nullptr ? look_up(name) : real(name);
  if (found != nullptr || name[0] != tool_variable[0]) [[likely]]
    return found;
  if (!is_offered.load(std::memory_order_acquire) || std::strcmp(name, tool_variable) != 0) {
    return nullptr;
  }
  return own_path;
}
