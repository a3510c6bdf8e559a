// SPDX-License-Identifier: Apache-2.0
//
// The methods are virtual functions, so the allocator gets a copy of its vtable with their slots
// replaced; every wrapper records and calls the original. Where one of them is not as in a known
// release (native_allocator.h), the vtable stays, and that is said.
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "interpose/door/entry/allocator_calls.h"
#include "interpose/door/entry/pool_choice.h"
#include "interpose/door/entry/trace_tracker.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"

namespace memtrace::allocator_methods {
namespace {

// MempoolId_t is a std::pair of these, passed in two registers like two arguments.
using word = unsigned long long;
using device_index = signed char;

struct originals {
  void (*empty_cache)(void*, word, word);
  void (*empty_all)(void*);
  void (*begin_pool)(void*, device_index, word, word, pool_choice::filter*);
  void (*end_pool)(void*, device_index, word, word);
  void (*release_pool)(void*, device_index, word, word);
  void (*create_pool)(void*, device_index, word, word, void* const*);
  void (*create_pool_of)(void*, device_index, word, word, void*);
  void (*set_no_split)(void*, device_index, word, word);
  void (*set_use_on_oom)(void*, device_index, word, word, bool);
  void (*use_on_oom)(void*, device_index, word, word);
  void (*set_fraction)(void*, double, device_index);
  double (*get_fraction)(void*, device_index);
  void* object;
} original;

constexpr unsigned most_words = 256;
void* vtable_copy[most_words];

void record(format::operation what, int device, word a, word b,
            std::string_view text = {}) noexcept {
  const errno_keeper errno_stays;
  const bool begins =
      what == format::operation::pool_create || what == format::operation::pool_begin;
  recorder* const to = begins ? session::start() : session::active();
  if (to == nullptr) return;
  const std::uint32_t where =
      device < 0 ? device_log::current() : static_cast<std::uint32_t>(device);
  to->operation({.what = what, .device = where, .a = a, .b = b, .text = text});
}

// The end is recorded also when the original throws.
struct empty_cache_end {
  word first, second;
  ~empty_cache_end() { record(format::operation::empty_cache_end, -1, first, second); }
};

void empty_all(void* self) {
  record(format::operation::empty_cache_begin, -1, 0, 0);
  const empty_cache_end end{0, 0};
  original.empty_all(self);
}

void empty_cache(void* self, word first, word second) {
  record(format::operation::empty_cache_begin, -1, first, second);
  const empty_cache_end end{first, second};
  original.empty_cache(self, first, second);
}

// The filter is a std::function, handed over by address and moved from.
void begin_pool(void* self, device_index device, word first, word second,
                pool_choice::filter* filter) {
  if (trace_tracker::entries_name_pools()) {
    original.begin_pool(self, device, first, second, filter);
  } else {
    auto ours = pool_choice::watched(std::move(*filter), {first, second});
    original.begin_pool(self, device, first, second, &ours);
  }
  record(format::operation::pool_begin, device, first, second);
}

void end_pool(void* self, device_index device, word first, word second) {
  original.end_pool(self, device, first, second);
  record(format::operation::pool_end, device, first, second);
}

void release_pool(void* self, device_index device, word first, word second) {
  record(format::operation::pool_release, device, first, second);
  original.release_pool(self, device, first, second);
}

// A std::shared_ptr is handed over by address; its first word is what it points at.
void create_pool(void* self, device_index device, word first, word second, void* const* allocator) {
  const std::string_view text = allocator != nullptr && *allocator != nullptr ? "allocator" : "";
  original.create_pool(self, device, first, second, allocator);
  record(format::operation::pool_create, device, first, second, text);
}

void create_pool_of(void* self, device_index device, word first, word second, void* allocator) {
  const std::string_view text = allocator != nullptr ? "allocator" : "";
  original.create_pool_of(self, device, first, second, allocator);
  record(format::operation::pool_create, device, first, second, text);
}

void set_no_split(void* self, device_index device, word first, word second) {
  original.set_no_split(self, device, first, second);
  record(format::operation::pool_no_split, device, first, second);
}

void set_use_on_oom(void* self, device_index device, word first, word second, bool use) {
  original.set_use_on_oom(self, device, first, second, use);
  record(format::operation::pool_use_on_oom, device, first, second, use ? "on" : "off");
}

void use_on_oom(void* self, device_index device, word first, word second) {
  original.use_on_oom(self, device, first, second);
  record(format::operation::pool_use_on_oom, device, first, second, "on");
}

void set_fraction(void* self, double fraction, device_index device) {
  original.set_fraction(self, fraction, device);
  record(format::operation::memory_fraction, device, std::bit_cast<std::uint64_t>(fraction), 0);
}

// Stands in front of a method; with the sentence for one that is not as in a known release.
struct replaced_method {
  allocator_member which;
  const char* unknown;
};
#define METHOD(which, name) \
  { allocator_member::which, "the allocator's " name " is not that of a known PyTorch" }
constexpr replaced_method replaced_methods[] = {
    METHOD(empty_cache, "emptyCache"),
    METHOD(begin_allocate_to_pool, "beginAllocateToPool"),
    METHOD(end_allocate_to_pool, "endAllocateToPool"),
    METHOD(release_pool, "releasePool"),
    METHOD(create_pool, "createOrIncrefPool"),
    METHOD(set_no_split, "setNoSplit"),
    METHOD(set_use_on_oom, "setUseOnOOM"),
    METHOD(set_memory_fraction, "setMemoryFraction"),
    METHOD(get_memory_fraction, "getMemoryFraction"),
};
#undef METHOD

// One that is not known may mean that the others changed what they do, too.
const char* find_unknown(const native_allocator& allocator) noexcept {
  for (const replaced_method& one : replaced_methods) {
    if (!allocator.is_known(one.which)) return one.unknown;
  }
  return nullptr;
}

template <typename Function>
void replace_slot(const native_allocator& allocator, allocator_member which, member_form form,
                  Function* wrapper, Function*& keeps) noexcept {
  void* const member = allocator.member(which);
  if (member == nullptr || allocator.form(which) != form) return;
  keeps = reinterpret_cast<Function*>(member);
  for (unsigned i = 0; i < allocator.vtable_word_count(); ++i) {
    if (vtable_copy[i] == member) vtable_copy[i] = reinterpret_cast<void*>(wrapper);
  }
}

void fill_copy(const native_allocator& allocator) noexcept {
  using method = allocator_member;
  using form = member_form;
  std::memcpy(vtable_copy, allocator.vtable_words(), allocator.vtable_word_count() * sizeof(void*));
  const auto put = [&](method which, form of, auto* wrapper, auto*& keeps) {
    replace_slot(allocator, which, of, wrapper, keeps);
  };
  put(method::empty_cache, form::no_pool, &empty_all, original.empty_all);
  put(method::empty_cache, form::only, &empty_cache, original.empty_cache);
  put(method::begin_allocate_to_pool, form::only, &begin_pool, original.begin_pool);
  put(method::end_allocate_to_pool, form::only, &end_pool, original.end_pool);
  put(method::release_pool, form::only, &release_pool, original.release_pool);
  put(method::create_pool, form::plain_pointer, &create_pool_of, original.create_pool_of);
  put(method::create_pool, form::only, &create_pool, original.create_pool);
  put(method::set_no_split, form::only, &set_no_split, original.set_no_split);
  put(method::set_use_on_oom, form::no_condition, &use_on_oom, original.use_on_oom);
  put(method::set_use_on_oom, form::only, &set_use_on_oom, original.set_use_on_oom);
  put(method::set_memory_fraction, form::only, &set_fraction, original.set_fraction);
}

}  // namespace

void replace(const native_allocator& allocator) noexcept {
  if (!refusals::is_allowed(capability::allocator_methods)) return;
  if (const char* const unknown = find_unknown(allocator); unknown != nullptr) {
    refusals::refuse(capability::allocator_methods, unknown);
    return;
  }
  original.object = allocator.object();
  original.get_fraction = reinterpret_cast<double (*)(void*, device_index)>(
      allocator.member(allocator_member::get_memory_fraction));
  fill_copy(allocator);
  // The object's first word points behind the offset to top and the type information.
  auto& functions = *static_cast<void**>(allocator.object());
  std::atomic_ref<void*>(functions).store(&vtable_copy[2], std::memory_order_release);
}

void record_earlier_fraction(recorder& to, std::uint32_t device) noexcept {
  // The serial number of the recording that has it.
  static constinit std::array<std::atomic<std::uint32_t>, max_devices> recorded_in{};
  auto& recorded = recorded_in[device % max_devices];
  if (recorded.load(std::memory_order_relaxed) == to.generation()) [[likely]]
    return;
  recorded.store(to.generation(), std::memory_order_relaxed);
  if (original.get_fraction == nullptr) return;
  const double fraction = original.get_fraction(original.object, static_cast<device_index>(device));
  if (fraction >= 1.0) return;
  to.operation({.what = format::operation::memory_fraction,
                .device = device,
                .a = std::bit_cast<std::uint64_t>(fraction),
                .text = {}});
}

}  // namespace memtrace::allocator_methods
