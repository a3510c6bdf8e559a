// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/step_lengths.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "interpose/ground/session/refusals.h"

namespace memtrace::heap_scan::step_lengths {

constinit std::atomic<bool> detail::is_watching{false};

namespace {

struct watched {
  named_container which;
  std::uint32_t path = 0;  // texts of the generation
  std::uint32_t owner = 0;
};

struct state {
  std::vector<watched> now;
  std::unordered_map<std::string, std::uint64_t> lengths;  // in the latest heap scan
  bool has_scanned = false;
  std::uint32_t generation = 0;  // of the recorder's texts
};

// With the GIL. Never destroyed: the program may end in the middle of a step.
constinit state* the_state = nullptr;

std::string key_of(const named_container& which) {
  return which.owner + '\x1f' + std::to_string(which.line) + '\x1f' + which.text;
}

void define_texts(state& mine, recorder& to) noexcept {
  if (mine.generation == to.generation()) return;
  for (watched& one : mine.now) {
    one.path = to.text_id(one.which.text);
    one.owner = to.text_id(one.which.owner);
  }
  mine.generation = to.generation();
}

}  // namespace

void choose(std::vector<found_container> found) {
  if (!refusals::is_allowed(capability::lengths)) return;
  if (the_state == nullptr) the_state = new state;
  state& mine = *the_state;
  detail::is_watching.store(false, std::memory_order_relaxed);
  std::unordered_map<std::string, std::uint64_t> lengths;
  for (const found_container& one : found) lengths[key_of(one.which)] = one.length;
  // After the first heap scan nobody knows yet which of them grow.
  if (mine.has_scanned) {
    std::erase_if(found, [&](const found_container& one) {
      const auto before = mine.lengths.find(key_of(one.which));
      return before != mine.lengths.end() && one.length <= before->second;
    });
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &found_container::bytes);
  if (found.size() > most) found.resize(most);
  mine.now.clear();
  for (found_container& one : found) mine.now.push_back({std::move(one.which), 0, 0});
  mine.lengths = std::move(lengths);
  mine.has_scanned = true;
  mine.generation = 0;
  detail::is_watching.store(!mine.now.empty(), std::memory_order_relaxed);
}

void record(recorder& to) noexcept {
  const python_objects* const python = find_python_objects();
  if (python == nullptr || the_state == nullptr) return;
  state& mine = *the_state;
  define_texts(mine, to);
  std::array<container_length, most> found;
  std::size_t count = 0;
  for (watched& one : mine.now) {
    const auto length = length_now(*python, one.which);
    if (length) found[count++] = {one.path, one.owner, *length};
  }
  to.lengths({found.data(), count});
}

}  // namespace memtrace::heap_scan::step_lengths
