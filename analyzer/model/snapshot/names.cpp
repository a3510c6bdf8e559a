// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/names.h"

#include <algorithm>
#include <cstring>

#include "analyzer/model/snapshot/keys.h"
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

}  // namespace memtrace::snapshot
