// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/expectations.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>

#include "interpose/ground/session/session.h"
#include "interpose/sight/heap_scan/name_object.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::expectations {
namespace {

struct kept {
  expectation said{};
  std::atomic<bool> is_whole{false};
  std::atomic<std::uint32_t> generation{0};  // of the recording that has it
};
constinit std::array<kept, most> all{};
constinit std::atomic<std::uint32_t> count{0};

std::uint32_t count_now() noexcept {
  return std::min(count.load(std::memory_order_acquire), most);
}

void record(recorder& to, kept& one) noexcept {
  const std::uint32_t generation = to.generation();
  if (!one.is_whole.load(std::memory_order_acquire) ||
      one.generation.exchange(generation, std::memory_order_acq_rel) == generation) {
    return;
  }
  const auto text = [&](const names::name* which) { return names::text_id(to, which); };
  const expectation& said = one.said;
  to.expectation({.what = text(said.what),
                  .why = text(said.why),
                  .said_in = text(said.said_in),
                  .said_at = said.said_at,
                  .flags = said.flags,
                  .owner = text(said.owner),
                  .file = text(said.file),
                  .line = said.line,
                  .holder = text(said.holder)});
}

bool is_known(const expectation& said) noexcept {
  for (std::uint32_t i = 0; i < count_now(); ++i) {
    if (all[i].is_whole.load(std::memory_order_acquire) && all[i].said == said) return true;
  }
  return false;
}

// A place in the program that hands objects over, with the GIL.
struct asking_place {
  const names::name* file = nullptr;
  std::uint32_t line = 0;
  std::uint64_t latest = 0;   // the object that was named last
  std::uint32_t in_vain = 0;  // searches in a row that told nothing new
};
// Each search takes as long as a heap scan.
constexpr std::uint32_t most_in_vain = 4;
constinit std::array<asking_place, 256> places{};

// Null: there are too many.
asking_place* place_of(const expectation& said) noexcept {
  for (asking_place& one : places) {
    if (one.file == nullptr && one.line == 0) one = {said.said_in, said.said_at, 0, 0};
    if (one.file == said.said_in && one.line == said.said_at) return &one;
  }
  return nullptr;
}

std::optional<heap_scan::object_name> name_of(std::uint64_t object) noexcept {
  try {
    return heap_scan::name_of_programs_object(object);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

const names::name* kept_name(std::string_view text) noexcept {
  return text.empty() ? nullptr : names::intern(text);
}

std::string_view class_of(std::uint64_t object) noexcept {
  if (heap_scan::find_python_objects() == nullptr) return "an object";
  return heap_scan::name_of_type(heap_scan::type_of(object));
}

}  // namespace

bool add(const expectation& said) noexcept {
  if (said.what == nullptr || is_known(said)) return false;
  const std::uint32_t number = count.fetch_add(1, std::memory_order_acq_rel);
  if (number >= most) {
    count.store(most, std::memory_order_release);
    return false;
  }
  all[number].said = said;
  all[number].is_whole.store(true, std::memory_order_release);
  if (recorder* const to = session::active(); to != nullptr) record(*to, all[number]);
  return true;
}

void add_object(std::uint64_t object, const expectation& said) noexcept {
  asking_place* const from = place_of(said);
  if (from == nullptr || from->latest == object || from->in_vain == most_in_vain) return;
  expectation made = said;
  if (const auto found = name_of(object)) {
    made.flags = format::expectation_object | (found->is_tensor ? format::expectation_tensor : 0u);
    made.what = kept_name(found->path);
    made.owner = kept_name(found->owner);
    made.file = kept_name(found->file);
    made.line = found->line;
    made.holder = kept_name(found->holder);
    from->latest = object;
  } else {
    made.flags = format::expectation_object | format::expectation_nameless;
    made.what = kept_name(class_of(object));
  }
  from->in_vain = add(made) ? 0 : from->in_vain + 1;
}

void record_earlier(recorder& to) noexcept {
  for (std::uint32_t i = 0; i < count_now(); ++i) record(to, all[i]);
}

}  // namespace memtrace::expectations
