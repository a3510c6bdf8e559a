// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/thread_stacks.h"

#include "interpose/python/code_deaths.h"

namespace memtrace::python_stack {

void thread_stacks::forget_everything() noexcept {
  tree_.clear();
  last_count_ = 0;
}

void thread_stacks::forget_what_is_stale(bool trust_addresses, const stack_table& table) noexcept {
  const code_deaths& deaths = known_code_deaths();
  const std::uint32_t now = deaths.count();
  // What a call learnt before deaths were watched is not trusted later either.
  if (!trusted_ || !trust_addresses || table.generation() != generation_) [[unlikely]] {
    forget_everything();
    trusted_ = trust_addresses;
    generation_ = table.generation();
    deaths_seen_ = now;
    return;
  }
  if (now == deaths_seen_) [[likely]]
    return;
  std::array<address, code_deaths::remembered> dead;
  std::uint32_t count = 0;
  if (deaths.died_since(deaths_seen_, now, dead, count)) {
    tree_.forget({dead.data(), count});
    last_count_ = 0;
  } else {
    forget_everything();
  }
  deaths_seen_ = now;
}

void thread_stacks::look_for(module_call watched, address step_call) noexcept {
  if (watched == watched_ && step_call == step_call_) [[likely]]
    return;
  watched_ = watched;
  step_call_ = step_call;
  last_count_ = 0;
}

// The outermost frame of last_ up to which, from `from` outwards, last_ holds now.
unsigned thread_stacks::unchanged_down_to(const layout& offsets, unsigned from) const noexcept {
  for (unsigned at = from; at > 0; --at) {
    const seen_frame& caller = last_[at - 1];
    if (previous_frame(offsets, last_[at].frame) != caller.frame) return at;
    address known = caller.frame;
    asm("" : "+r"(known));  // keeps the compiler from using the pointer just loaded instead
    if (read_frame(offsets, known) != caller.key) return at;
  }
  return 0;
}

bool thread_stacks::add_inner(address frame, frame_key key, unsigned depth) noexcept {
  if (inner_count_ == depth) {
    cut_ = true;
    return false;
  }
  inner_[inner_count_++] = {frame, key};
  return true;
}

void thread_stacks::walk(const layout& offsets, address innermost, unsigned depth) noexcept {
  inner_count_ = 0;
  common_ = 0;
  cut_ = false;
  unsigned comparable = last_count_;  // frames of last_ from here inwards are dealt with
  for (address frame = innermost; frame != 0; frame = previous_frame(offsets, frame)) {
    const frame_key key = read_frame(offsets, frame);
    const unsigned place = place_of_frame(frame);
    if (place >= comparable || last_[place].frame != frame || last_[place].key != key) {
      if (!add_inner(frame, key, depth)) return;
      continue;
    }
    const unsigned lowest = unchanged_down_to(offsets, place);
    frame = last_[lowest].frame;
    if (lowest == 0 && previous_frame(offsets, frame) == 0) {
      common_ = place + 1;
      return;
    }
    for (unsigned at = place + 1; at-- > lowest;) {
      if (!add_inner(last_[at].frame, last_[at].key, depth)) return;
    }
    comparable = lowest;
  }
}

// Finds or makes the nodes of inner_, from the outermost inwards, and makes last_ what is now.
thread_stacks::look_up_result thread_stacks::look_up(const interpreter& python) noexcept {
  node_number node = cut_ ? omitted : root;
  if (common_ != 0) node = last_[common_ - 1].node;
  last_count_ = common_;
  for (unsigned i = inner_count_; i-- > 0;) {
    const auto [frame, key] = inner_[i];
    node_number found = tree_.find(node, key);
    if (found == no_node) [[unlikely]] {
      const frame_place place = place_of(python, key);
      if (place.kind == frame_kind::not_code) return look_up_result::misread;
      known_code_deaths().remember(key.code());
      const bool shown = place.kind == frame_kind::shown;
      found = tree_.add({key, node, place.line, 0, no_node, shown});
      if (found == no_node) return look_up_result::no_room;
    }
    node = found;
    append(inner_[i], node);
  }
  return look_up_result::found;
}

void thread_stacks::append(met_frame met, node_number node) noexcept {
  const auto place = static_cast<std::uint16_t>(last_count_++);
  place_of_frame(met.frame) = place;
  seen_frame& added = last_[place];
  added = {met.frame, met.key, node, 0, 0, 0};
  if (place > 0) {
    const seen_frame& caller = last_[place - 1];
    added.inner_call = caller.inner_call;
    added.outer_call = caller.outer_call;
    added.steps = caller.steps;
  }
  if (met.key.code() == step_call_) ++added.steps;
  // Of a call that has not begun (not shown) the variables are not there yet.
  if (met.key.code() != watched_.code() || !tree_[node].shown) return;
  added.inner_call = static_cast<std::uint16_t>(place + 1);
  if (added.outer_call == 0) added.outer_call = added.inner_call;
}

address thread_stacks::module_at(const layout& offsets, unsigned call) const noexcept {
  return call == 0 ? 0 : watched_.module_of(offsets, last_[call - 1].frame);
}

stack_id thread_stacks::number_of(const interpreter& python, node_number innermost,
                                  stack_table& table) noexcept {
  unsigned count = 0;
  node_number node = innermost;
  texts_.clear();
  for (; node != root && node != omitted && count < max_depth; node = tree_[node].parent) {
    const stack_node& at = tree_[node];
    if (at.shown) frames_[count++] = decode(python, at.key, at.line, texts_);
  }
  if (count == 0) return 0;
  if (node == omitted) frames_[count++] = {{}, omitted_frames, 0};
  return table.intern({frames_.data(), count});
}

thread_stacks::answer thread_stacks::find(const interpreter& python, address innermost,
                                          unsigned depth, bool trust_addresses,
                                          stack_table& table) noexcept {
  forget_what_is_stale(trust_addresses, table);
  look_for(watched_module_call(), watched_step_call());
  walk(*python.offsets, innermost, depth);
  if (cut_ || common_ + inner_count_ > depth) [[unlikely]] {
    last_count_ = 0;  // nothing in common: a cut stack begins elsewhere
    walk(*python.offsets, innermost, depth);
  }
  const unsigned count = common_ + inner_count_;
  if (count == 0) return {};
  look_up_result result = look_up(python);
  if (result == look_up_result::no_room) {
    forget_everything();
    walk(*python.offsets, innermost, depth);
    result = look_up(python);
  }
  if (result != look_up_result::found) {
    forget_everything();
    return {{}, result == look_up_result::misread};
  }
  const seen_frame& inner = last_[count - 1];
  const node_number innermost_node = inner.node;
  stack_id id = tree_[innermost_node].id;
  if (id == 0) [[unlikely]] {
    id = tree_[innermost_node].id = number_of(python, innermost_node, table);
  }
  const layout& offsets = *python.offsets;
  const bool tells_steps = step_call_ != 0 && !cut_;
  if (cut_) last_count_ = 0;
  return {{.stack = id,
           .module = module_at(offsets, inner.inner_call),
           .root = module_at(offsets, inner.outer_call),
           .steps = tells_steps ? inner.steps : unknown_steps},
          false};
}

}  // namespace memtrace::python_stack
