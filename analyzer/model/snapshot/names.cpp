// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/names.h"

#include <algorithm>
#include <cstring>

#include "analyzer/model/snapshot/keys.h"
#include "analyzer/trace/reader/dictionary.h"
#include "memtrace/trace_format.h"

namespace memtrace::snapshot {

namespace {

constexpr std::size_t chunk_bytes = 64u << 10;
constexpr std::size_t most_frames = 1024;  // frames; the recorder cuts stacks there, too

// <stdin>, <string>, <frozen …>, <eval_with_key>.3; files of packages and notebooks.
[[nodiscard]] bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.starts_with('<');
}

// "torch::autograd::generated::MmBackward0::apply(std::vector<…>&&)": MmBackward0
[[nodiscard]] std::string_view node_in(std::string_view function) {
  if (!function.starts_with("torch::autograd::")) return {};
  const auto end = function.find("::apply(");
  if (end == std::string_view::npos) return {};
  const auto name = function.substr(0, end);
  return name.substr(name.rfind("::") + 2);
}

[[nodiscard]] bool waits_for_autograd(std::string_view file, std::string_view function) {
  return (file.ends_with("torch/autograd/graph.py") && function == "_engine_run_backward") ||
         (file.ends_with("torch/autograd/__init__.py") &&
          (function == "backward" || function == "grad")) ||
         (file.ends_with("torch/_tensor.py") && function == "backward");
}

using trace::dictionary;

// As PyTorch names the first thread of its autograd engine.
constexpr char autograd_thread[] = "pt_autograd_0";

template <class Id>
[[nodiscard]] Id& slot_of(std::vector<Id>& slots, std::uint32_t number) {
  if (number >= slots.size()) slots.resize(number + std::size_t{1});
  return slots[number];
}

}  // namespace

names::names() : texts_(1), frames_(1), nodes_(1), stacks_(1) {
  for (const auto word : key_words) (void)text(word);
}

std::string_view names::text_of(std::uint32_t number) const {
  return texts_[number];
}

std::uint32_t names::text(std::string_view words) {
  words = words.substr(0, format::max_text_bytes);
  if (words.empty()) return 0;
  const auto known = known_texts_.find(words);
  if (known != known_texts_.end()) return known->second;
  if (words.size() > chunk_left_) {
    chunk_left_ = std::max(chunk_bytes, words.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_left_));
    next_in_chunk_ = chunks_.back().get();
  }
  char* const place = next_in_chunk_;
  std::memcpy(place, words.data(), words.size());
  next_in_chunk_ += words.size();
  chunk_left_ -= words.size();
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(place, words.size());
  known_texts_.emplace(texts_.back(), number);
  return number;
}

void names::learn(frame_facts& frame) {
  const auto file = text_of(frame.file);
  const auto function = text_of(frame.function);
  frame.python = is_python(file);
  if (frame.python) {
    trains_ =
        trains_ || waits_for_autograd(file, function) || file.find("torch/optim/") != file.npos;
    return;
  }
  has_cpp_ = true;
  frame.engine = function.find("torch::autograd::Engine::evaluate_function") != function.npos;
  has_engine_ = has_engine_ || frame.engine;
  frame.node = text(node_in(function));
}

std::uint32_t names::frame(std::uint32_t file, std::uint32_t function, std::uint32_t line) {
  const pair wanted{std::uint64_t{file} << 32 | function, line};
  const auto [known, is_new] =
      known_frames_.try_emplace(wanted, static_cast<std::uint32_t>(frames_.size()));
  if (is_new) {
    frame_facts made{file, function, line};
    learn(made);
    frames_.push_back(made);
  }
  return known->second;
}

std::uint32_t names::node_on(std::uint32_t parent, std::uint32_t frame) {
  const auto [known, is_new] =
      known_nodes_.try_emplace(pair{parent, frame}, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, frame});
  return known->second;
}

std::uint32_t names::stack(std::span<const std::uint32_t> frames) {
  frames = frames.first(std::min(frames.size(), most_frames));
  stack_facts made;
  for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
    const auto& facts = frames_[*at];
    if (facts.python) {
      made.python = node_on(made.python, *at);
    } else {
      made.engine = made.engine || facts.engine;
      if (facts.node != 0) made.node = facts.node;
    }
  }
  const pair wanted{made.python, std::uint64_t{made.node} << 1 | (made.engine ? 1u : 0u)};
  const auto [known, is_new] =
      known_stacks_.try_emplace(wanted, static_cast<std::uint32_t>(stacks_.size()));
  if (is_new) stacks_.push_back(made);
  return known->second;
}

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
