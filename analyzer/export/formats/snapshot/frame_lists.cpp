// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/frame_lists.h"

namespace memtrace::exporting {

namespace {

// The place in a table that grows with the ids.
[[nodiscard]] pickle::memo& place_in(std::vector<pickle::memo>& table, std::uint32_t id) {
  if (table.size() <= id) table.resize(static_cast<std::size_t>(id) + 1 + id / 2);
  return table[id];
}

void put_frame(std::string& to, pickle::memo name, pickle::memo file, std::uint32_t line) {
  pickle::dict(to);
  pickle::mark(to);
  get(to, word::name);
  pickle::get(to, name);
  get(to, word::filename);
  pickle::get(to, file);
  get(to, word::line);
  pickle::integer(to, line);
  pickle::set_items(to);
}

}  // namespace

pickle::memo frame_lists::text(trace::text_id which) {
  const auto known = place_in(texts_, which.value);
  if (known != 0) return known;
  return texts_[which.value] = to_.define_text(names_[which]);
}

pickle::memo frame_lists::frame(trace::frame_id which) {
  const auto known = place_in(frames_, which.value);
  if (known != 0) return known;
  const auto found = names_[which];
  const auto name = text(found.function);
  const auto file = text(found.file);
  return frames_[which.value] =
             to_.define([&](std::string& to) { put_frame(to, name, file, found.line); });
}

std::vector<pickle::memo> frame_lists::frames_of(trace::stack_id stack) {
  std::vector<pickle::memo> found;
  for (auto at = stack; at; at = names_[at].parent) found.push_back(frame(names_[at].innermost));
  return found;
}

pickle::memo frame_lists::list_of(const std::vector<pickle::memo>& frames) {
  return to_.define([&](std::string& to) {
    list_maker made(to);
    for (const auto one : frames) {
      made.next();
      pickle::get(to, one);
    }
  });
}

pickle::memo frame_lists::whole(trace::stack_id stack) {
  const auto known = place_in(stacks_, stack.value);
  if (known != 0) return known;
  return stacks_[stack.value] = list_of(frames_of(stack));
}

pickle::memo frame_lists::marked(trace::text_id name, std::string_view place,
                                 trace::stack_id stack) {
  const auto name_stored = text(name);
  const auto place_stored = to_.define_text(place);
  auto frames = frames_of(stack);
  frames.insert(frames.begin(),
                to_.define([&](std::string& to) { put_frame(to, name_stored, place_stored, 0); }));
  return list_of(frames);
}

pickle::memo frame_lists::of(trace::stack_id stack, trace::thread_id thread,
                             trace::stack_id forward, trace::text_id node) {
  if (stack) return whole(stack);
  if (forward) {
    auto& known = backward_[{node, forward}];
    if (known == 0) known = marked(node, "<backward of>", forward);
    return known;
  }
  const auto name = names_[thread].name;
  auto& known = threads_[name];
  if (known == 0) known = marked(name, "<no Python frame>", {});
  return known;
}

}  // namespace memtrace::exporting
