// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/thread_stacks.h"

#include <type_traits>

#include "interpose/sight/python/code_deaths.h"

namespace memtrace::python_stack {

void thread_stacks::forget_everything() noexcept {
  tree_.clear();
  last_count_ = 0;
}

void thread_stacks::forget_what_is_stale(bool trust_addresses, const stack_table& table) noexcept {
  const std::uint32_t now = the_code_deaths.count();
  const module_call watched = watched_module_call();
  const address step_call = watched_step_call();
  if (trusted_ && trust_addresses && table.generation() == generation_ && now == deaths_seen_ &&
      watched == watched_ && step_call == step_call_) [[likely]] {
    return;
  }
  // A call that was learnt before deaths were watched is not trusted later either.
  if (!trusted_ || !trust_addresses || table.generation() != generation_) {
    forget_everything();
  } else if (now != deaths_seen_) {
    forget_dead(now);
  }
  if (watched != watched_ || step_call != step_call_) last_count_ = 0;
  trusted_ = trust_addresses;
  generation_ = table.generation();
  deaths_seen_ = now;
  watched_ = watched;
  step_call_ = step_call;
}

void thread_stacks::forget_dead(std::uint32_t now) noexcept {
  std::array<address, code_deaths::remembered> dead;
  std::uint32_t count = 0;
  if (the_code_deaths.died_since(deaths_seen_, now, dead, count)) {
    tree_.forget({dead.data(), count});
    last_count_ = 0;
  } else {
    forget_everything();
  }
}

// The outermost frame of last_ up to which, from `from` outwards, last_ holds now. A frame is read
// where last_ says that it is, after that was compared with its callee's pointer: so the processor
// reads many at once. The owner needs no look: frames of another owner never stand at this address.
template <bool by_address>
unsigned thread_stacks::unchanged_down_to(const layout& offsets, unsigned from) const noexcept {
  using instruction = std::conditional_t<by_address, std::uint64_t, std::uint32_t>;
  const std::size_t previous_at = offsets.frame_previous;
  const std::size_t code_at = offsets.frame_code;
  const std::size_t instruction_at = offsets.frame_instruction;
  const kept_frame* inner = &last_[from];
  for (; inner != last_.data(); --inner) {
    const kept_frame& caller = inner[-1];
    address frame = caller.frame;
    if (load<address>(inner->frame, previous_at) != frame) break;
    asm("" : "+r"(frame));  // keeps the compiler from using the pointer just loaded instead
    if (load_code(frame, code_at) != caller.code ||
        load<instruction>(frame, instruction_at) != caller.instruction) {
      break;
    }
  }
  return static_cast<unsigned>(inner - last_.data());
}

unsigned thread_stacks::unchanged_down_to(const layout& offsets, unsigned from) const noexcept {
  return offsets.frame_owner == not_there ? unchanged_down_to<false>(offsets, from)
                                          : unchanged_down_to<true>(offsets, from);
}

// The stack is that of the last time, but that the innermost frame may have come to another
// instruction that was met before: most often so, and last_ is made what is now at little cost.
bool thread_stacks::is_as_before(const layout& offsets, address innermost) noexcept {
  if (last_count_ == 0 || last_[last_count_ - 1].frame != innermost) return false;
  const unsigned inner = last_count_ - 1;
  if (unchanged_down_to(offsets, inner) != 0) return false;
  if (previous_frame(offsets, last_[0].frame) != 0) return false;
  const frame_key key = read_frame(offsets, innermost);
  if (key == last_[inner].key()) return true;
  const node_number node = tree_.find(inner == 0 ? root : facts_[inner - 1].node, key);
  if (node == no_node) return false;
  frame_facts& facts = facts_[inner];
  if (key.code() == last_[inner].code && tree_[node].shown == tree_[facts.node].shown) {
    facts.node = node;
    last_[inner].instruction = key.instruction;
    last_[inner].owner = key.owner();
  } else {
    last_count_ = inner;
    append({innermost, key}, node);
  }
  return true;
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
    if (place >= comparable || last_[place].frame != frame || last_[place].key() != key) {
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
      if (!add_inner(last_[at].frame, last_[at].key(), depth)) return;
    }
    comparable = lowest;
  }
}

// Finds or makes the nodes of inner_, from the outermost inwards, and makes last_ what is now.
thread_stacks::look_up_result thread_stacks::look_up(const interpreter& python) noexcept {
  node_number node = cut_ ? omitted : root;
  if (common_ != 0) node = facts_[common_ - 1].node;
  last_count_ = common_;
  for (unsigned i = inner_count_; i-- > 0;) {
    const auto [frame, key] = inner_[i];
    node_number found = tree_.find(node, key);
    if (found == no_node) [[unlikely]] {
      const frame_place place = place_of(python, key);
      if (place.kind == frame_kind::not_code) return look_up_result::misread;
      the_code_deaths.remember(key.code());
      const bool shown = place.kind == frame_kind::shown;
      found = tree_.add({.key = key, .parent = node, .line = place.line, .id = 0, .shown = shown});
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
  last_[place] = {met.frame, met.key.code(), met.key.instruction, met.key.owner()};
  frame_facts& added = facts_[place];
  added = {node, 0, 0, 0};
  if (place > 0) {
    const frame_facts& caller = facts_[place - 1];
    added.inner_call = caller.inner_call;
    added.outer_call = caller.outer_call;
    added.steps = caller.steps;
  }
  if (met.key.code() == step_call_) ++added.steps;
  // In a call that has not begun (not shown) the variables are not there yet.
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
    if (!at.shown) continue;
    frames_[count] = decode(python, at.key, at.line, texts_);
    if (frames_[count].file != unshown_file) ++count;
  }
  if (count == 0) return 0;
  if (node == omitted) frames_[count++] = {{}, omitted_frames, 0};
  return table.intern({frames_.data(), count});
}

thread_stacks::answer thread_stacks::answer_of_last(const interpreter& python,
                                                    stack_table& table) noexcept {
  const frame_facts& inner = facts_[last_count_ - 1];
  stack_id id = tree_[inner.node].id;
  if (id == 0) [[unlikely]] {
    const node_number innermost = inner.node;
    id = tree_[innermost].id = number_of(python, innermost, table);
  }
  const layout& offsets = *python.offsets;
  return {{.stack = id,
           .module = module_at(offsets, inner.inner_call),
           .root = module_at(offsets, inner.outer_call),
           .steps = step_call_ != 0 && !cut_ ? inner.steps : unknown_steps},
          false};
}

thread_stacks::answer thread_stacks::find(const interpreter& python, address innermost,
                                          unsigned depth, bool trust_addresses,
                                          stack_table& table) noexcept {
  forget_what_is_stale(trust_addresses, table);
  cut_ = false;
  if (is_as_before(*python.offsets, innermost)) return answer_of_last(python, table);
  walk(*python.offsets, innermost, depth);
  if (cut_ || common_ + inner_count_ > depth) [[unlikely]] {
    last_count_ = 0;  // nothing in common: a cut stack begins elsewhere
    walk(*python.offsets, innermost, depth);
  }
  if (common_ + inner_count_ == 0) return {};
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
  const answer found = answer_of_last(python, table);
  if (cut_) last_count_ = 0;
  return found;
}

}  // namespace memtrace::python_stack
