// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/dictionary.h"

#include <algorithm>
#include <limits>
#include <string>

#include "analyzer/base/text/utf8.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

namespace {
constexpr std::size_t chunk_bytes = format::max_text_bytes;
}

dictionary::outcome dictionary::define_text(std::string_view written) {
  if (!add_text(written)) return outcome::too_many;
  defined_texts_.push_back(text_id{static_cast<std::uint32_t>(texts_.size())});
  return outcome::defined;
}

bool dictionary::add_text(std::string_view written) {
  text_bytes_ += written.size();
  if (texts_.size() >= max_texts || text_bytes_ > max_text_bytes || written.size() > chunk_bytes) {
    return false;
  }
  std::string room;
  const auto text = text::repaired(written, room);
  if (text.empty()) {
    texts_.emplace_back();
    return true;
  }
  char* place = nullptr;
  if (text.size() > chunk_bytes) {  // as it may be once repaired: a chunk of its own, not the last
    place = chunks_.insert(chunks_.begin(), std::make_unique<char[]>(text.size()))->get();
  } else {
    if (chunk_left_ < text.size()) {
      chunks_.push_back(std::make_unique<char[]>(chunk_bytes));
      chunk_left_ = chunk_bytes;
    }
    place = chunks_.back().get() + (chunk_bytes - chunk_left_);
    chunk_left_ -= text.size();
  }
  std::ranges::copy(text, place);
  texts_.emplace_back(place, text.size());
  return true;
}

dictionary::outcome dictionary::define_frame(std::uint64_t file, std::uint64_t function,
                                             std::uint64_t line) {
  if (file > texts_.size() || function > texts_.size()) return outcome::unknown_id;
  if (frames_.size() >= max_frames) return outcome::too_many;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  frames_.push_back({text_id{static_cast<std::uint32_t>(file)},
                     text_id{static_cast<std::uint32_t>(function)},
                     static_cast<std::uint32_t>(std::min(line, most))});
  defined_frames_.push_back(frame_id{static_cast<std::uint32_t>(frames_.size())});
  return outcome::defined;
}

frame_id dictionary::add_frame(std::string_view file, std::string_view function,
                               std::uint32_t line) {
  if (frames_.size() >= max_frames || !add_text(file)) return {};
  const text_id of_file{static_cast<std::uint32_t>(texts_.size())};
  if (!add_text(function)) return {};
  frames_.push_back({of_file, text_id{static_cast<std::uint32_t>(texts_.size())}, line});
  return frame_id{static_cast<std::uint32_t>(frames_.size())};
}

dictionary::outcome dictionary::define_stack(std::uint64_t parent, std::uint64_t frame) {
  if (parent > stacks_.size() || frame == 0 || frame > frames_.size()) return outcome::unknown_id;
  const auto made = add_stack(stack_id{static_cast<std::uint32_t>(parent)},
                              frame_id{static_cast<std::uint32_t>(frame)});
  if (!made) return outcome::too_many;
  defined_.push_back(made);
  return outcome::defined;
}

stack_id dictionary::add_stack(stack_id outer, frame_id innermost) {
  const auto depth = (*this)[outer].depth + 1;
  if (stacks_.size() >= max_stacks || depth > max_depth) return {};
  stacks_.push_back({outer, innermost, depth});
  return stack_id{static_cast<std::uint32_t>(stacks_.size())};
}

dictionary::outcome dictionary::define_stack_as(stack_id made) {
  if (defined_.size() >= max_stacks) return outcome::too_many;
  defined_.push_back(made);
  return outcome::defined;
}

std::uint64_t dictionary::number_of(stack_id stack) const {
  const auto found = std::ranges::find(defined_, stack);
  return found == defined_.end() ? 0 : static_cast<std::uint64_t>(found - defined_.begin()) + 1;
}

void dictionary::fuse(stack_id lines, stack_id with) {
  if (lines && with) fused_[lines.value].insert(with);
}

const std::set<stack_id>& dictionary::fused_with(stack_id lines) const {
  static const std::set<stack_id> none;
  const auto found = fused_.find(lines.value);
  return found == fused_.end() ? none : found->second;
}

dictionary::outcome dictionary::define_thread(std::uint64_t system_id, std::uint64_t name) {
  if (name > texts_.size()) return outcome::unknown_id;
  if (threads_.size() >= max_threads) return outcome::too_many;
  threads_.push_back({system_id, text_id{static_cast<std::uint32_t>(name)}});
  return outcome::defined;
}

dictionary::outcome dictionary::define_object(std::uint64_t address) {
  if (objects_.size() >= max_objects) return outcome::too_many;
  objects_.push_back(address);
  return outcome::defined;
}

source_state source_file::state() const {
  if ((flags & format::source_unreadable) != 0) return source_state::unreadable;
  if ((flags & format::source_too_large) != 0) return source_state::too_large;
  if (text.size() != bytes) return source_state::incomplete;
  return (flags & format::source_changed) != 0 ? source_state::changed : source_state::usable;
}

dictionary::outcome dictionary::add_source(const record::source<ids>& part) {
  const auto name = (*this)[part.file];
  if (!sources_.contains(name) && sources_.size() >= format::most_sources) {
    return outcome::too_many;
  }
  const auto [place, is_new] = sources_.try_emplace(name);
  auto& known = place->second;
  if (is_new || part.offset == 0) {
    source_bytes_ -= known.text.size();
    known = {part.flags, part.modified_ns, part.bytes, std::string(part.digest), {}};
  }
  if (part.offset != known.text.size()) return outcome::defined;
  source_bytes_ += part.text.size();
  if (source_bytes_ > format::most_sources_bytes) return outcome::too_many;
  known.text += part.text;
  return outcome::defined;
}

const source_file* dictionary::source_of(std::string_view file) const {
  const auto found = sources_.find(file);
  return found == sources_.end() ? nullptr : &found->second;
}

dictionary::outcome dictionary::add_expectation(const record::expectation<ids>& said) {
  if (expectations_.size() >= format::most_expectations) return outcome::too_many;
  expectations_.push_back(said);
  return outcome::defined;
}

void dictionary::add_proof(std::string_view text) {
  if (proofs_.size() < format::most_proofs) proofs_.emplace_back(text);
}

std::uint64_t dictionary::address_of(object_id object) const {
  return object ? objects_[object.value - 1] : 0;
}

std::string_view dictionary::operator[](text_id text) const {
  return text ? texts_[text.value - 1] : std::string_view();
}

frame dictionary::operator[](frame_id frame) const {
  return frame ? frames_[frame.value - 1] : trace::frame{};
}

stack_node dictionary::operator[](stack_id stack) const {
  return stack ? stacks_[stack.value - 1] : stack_node{};
}

thread dictionary::operator[](thread_id thread) const {
  return thread ? threads_[thread.value - 1] : trace::thread{};
}

}  // namespace memtrace::trace
