// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/trace_names.h"

#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::snapshot {

namespace {

using trace::dictionary;

// As PyTorch names the first thread of its autograd engine.
constexpr char autograd_thread[] = "pt_autograd_0";

template <class Id>
[[nodiscard]] Id& slot_of(std::vector<Id>& slots, std::uint32_t number) {
  if (number >= slots.size()) slots.resize(number + std::size_t{1});
  return slots[number];
}

}  // namespace

trace::text_id trace_names::text(std::uint32_t number) {
  if (number == 0) return {};
  auto& made = slot_of(texts_, number);
  if (made) return made;
  const auto words = known_.text_of(number);
  constexpr std::size_t kept_back = 16;  // for texts that no snapshot has
  const bool fits = text_bytes_ + words.size() < dictionary::max_text_bytes / 2 &&
                    texts_.size() + kept_back < dictionary::max_texts;
  if (!fits) return {};
  text_bytes_ += words.size();
  return made = to_.text(words);
}

trace::frame_id trace_names::frame(std::uint32_t number) {
  if (auto& made = slot_of(frames_, number); made) return made;
  if (number >= dictionary::max_frames) return {};
  const auto& facts = known_.frame_of(number);
  const auto file = text(facts.file);
  const auto function = text(facts.function);
  return frames_[number] = to_.frame(file, function, facts.line);
}

trace::stack_id trace_names::node(std::uint32_t number) {
  if (number == 0 || number >= dictionary::max_stacks) return {};
  waiting_.clear();
  for (auto at = number; at != 0 && !slot_of(nodes_, at); at = known_.node_of(at).parent) {
    waiting_.push_back(at);
  }
  for (auto at = waiting_.rbegin(); at != waiting_.rend(); ++at) {
    const auto& facts = known_.node_of(*at);
    const auto parent = facts.parent == 0 ? trace::stack_id{} : nodes_[facts.parent];
    const auto innermost = frame(facts.frame);
    if (!innermost) return {};
    nodes_[*at] = to_.stack(parent, innermost);
  }
  return nodes_[number];
}

trace::stack_id trace_names::stack(std::uint32_t number) {
  return node(known_.stack_of(number).python);
}

trace::thread_id trace_names::thread(std::uint32_t number) {
  const auto& facts = known_.stack_of(number);
  const bool autograd = known_.has_engine() ? facts.engine : known_.trains() && facts.python == 0;
  if (!autograd) return {};
  if (!autograd_) autograd_ = to_.thread(to_.text(autograd_thread));
  return autograd_;
}

}  // namespace memtrace::snapshot
