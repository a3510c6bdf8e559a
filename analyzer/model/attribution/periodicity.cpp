// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/periodicity.h"

#include <algorithm>
#include <bit>

namespace memtrace::attribution {

namespace {

// The key by which an allocation is compared: its stack; in backward, the forward call whose
// gradient it computes; else its size to a power of two, as lengths vary.
enum class token_kind : std::uint64_t { stack = 1, forward = 2, size_class = 3, size = 4 };

[[nodiscard]] std::uint64_t key(token_kind kind, std::uint64_t number) {
  return static_cast<std::uint64_t>(kind) << 56 | (number & ((std::uint64_t{1} << 56) - 1));
}

// Tokens and sizes by number: above that, new ones share the last.
constexpr std::size_t most_numbers = 1u << 20;

}  // namespace

std::vector<std::uint64_t> inferred_steps::ends() const {
  if (begins.empty()) return {};
  std::vector<std::uint64_t> found(begins.begin() + 1, begins.end());
  found.push_back(end);
  return found;
}

// Allocated by one of PyTorch's own layers, called by itself: what it does in one call it does
// once.
bool periodicity::is_own_layer(const trace::event& head, trace::stack_id stack) const {
  if (head.scope.module != head.scope.root) return false;
  const auto& file = names_[names_[names_[stack].innermost].file];
  return file.find("/torch/nn/modules/") != std::string_view::npos;
}

// An event outside of every model, or in backward, says that the call before it is over. So does,
// in an evaluation, what each call begins with: there need be no event between two calls.
void periodicity::see_calls(const trace::event& head, trace::stack_id stack) {
  if (head.scope.in_backward() && !in_backward_) ++backwards_;
  in_backward_ = head.scope.in_backward();
  const bool in_call = head.scope.root && !in_backward_;
  const bool again = in_call_ && stack && stack == call_stack_ &&
                     head.scope.module == call_module_ &&
                     (head.scope.flags & format::scope_grad) == 0;
  if (in_call && !in_call_) ++calls_apart_;
  if (in_call && (!in_call_ || again)) {
    ++calls_;
    call_begins_.push_back(head.number);
    call_stack_ = {};
  }
  if (in_call && stack && !call_stack_) {
    call_stack_ = stack;
    call_module_ = head.scope.module;
  }
  in_call_ = in_call;
}

void periodicity::see_layer(const trace::event& head, trace::stack_id stack, std::uint64_t size) {
  constexpr std::size_t most = std::size_t{1} << 16;
  if (!stack || head.scope.in_backward() || layer_.size() == most) return;
  if (layer_stack_ && stack != layer_stack_) return;
  if (!layer_stack_ && !(head.scope.root && is_own_layer(head, stack))) return;
  layer_stack_ = stack;
  layer_.push_back({head.number, size});
}

// It asks for the same sizes in each call: every so many of them begin one.
std::vector<std::uint64_t> periodicity::calls_of_layer() const {
  constexpr std::size_t most_of_a_call = 32;
  const auto comes_back_after = [&](std::size_t count) {
    for (std::size_t i = count; i < layer_.size(); ++i) {
      if (layer_[i].size != layer_[i - count].size) return false;
    }
    return true;
  };
  for (std::size_t count = 1; count <= most_of_a_call && 2 * count <= layer_.size(); ++count) {
    if (!comes_back_after(count)) continue;
    std::vector<std::uint64_t> begins;
    for (std::size_t i = 0; i < layer_.size(); i += count) begins.push_back(layer_[i].event);
    return begins;
  }
  return {};
}

void periodicity::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  last_event_ = head.number;
  if (!marked_) {
    const bool allocates = record.kind == format::kind::alloc;
    see_calls(head, allocates ? record.stack : trace::stack_id{});
    if (allocates) see_layer(head, record.stack, record.size);
  }
  if (record.kind == format::kind::alloc) allocated(head, record.stack, record.size);
  if (record.kind == format::kind::free_requested) ++frees_;
}

void periodicity::on_reported(const trace::event& head, const trace::reported_event& record) {
  last_event_ = head.number;
  if (record.is_alloc) {
    allocated(head, record.stack, record.block_bytes);
    live_ += record.block_bytes;
  } else {
    ++frees_;
    live_ -= std::min(live_, record.block_bytes);
  }
}

void periodicity::on_report(const trace::report_event& report) {
  live_ = report.allocated;
}

void periodicity::on_step(const trace::event&, const trace::step_event&) {
  marked_ = true;
  items_ = {};
  numbers_ = {};
  call_begins_ = {};
  layer_ = {};
}

std::uint32_t periodicity::number_of(std::uint64_t key) {
  if (numbers_.size() >= most_numbers && !numbers_.contains(key)) return most_numbers;
  return numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

period_item periodicity::item_of(const trace::event& head, trace::stack_id stack,
                                 std::uint64_t size) {
  period_item item;
  item.event = head.number;
  item.live = live_;
  item.stack = stack;
  item.frees = frees_;
  item.thread = head.thread;
  item.call = in_call_ ? calls_ : 0;
  item.backward = in_backward_ ? backwards_ : 0;
  item.in_module = static_cast<bool>(head.scope.module);
  if (stack) {
    item.token = number_of(key(token_kind::stack, stack.value));
  } else if (head.scope.forward) {
    item.token = number_of(key(token_kind::forward, head.scope.forward.value));
  } else {
    item.token = number_of(key(token_kind::size_class, std::bit_width(size)));
    item.size_number = number_of(key(token_kind::size, size));
  }
  return item;
}

void periodicity::allocated(const trace::event& head, trace::stack_id stack, std::uint64_t size) {
  if (marked_) return;
  const auto item = item_of(head, stack, size);
  if (follow_) {
    if (follow_->enters(item)) step_begins(item);
    // It may have been a warm-up's: look again for what has come instead.
    if (++since_entry_ > window_ / 2) follow_.reset();
    return;
  }
  items_.push_back(item);
  if (items_.size() < window_ || search()) return;
  items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(window_ / 2));
}

void periodicity::step_begins(const period_item& item) {
  begins_.push_back(item.event);
  if (item.call != 0 && item.call == last_call_) ++within_calls_;
  last_call_ = item.call;
  if (item.backward != 0 && item.backward == last_backward_) ++within_backwards_;
  last_backward_ = item.backward;
  since_entry_ = 0;
}

bool periodicity::search() {
  const auto found = find_period(names_, items_);
  if (!found) return false;
  anchor_ = *found;
  follow_.emplace(names_, anchor_);
  for (const auto& item : items_) {
    ++since_entry_;
    if (follow_->enters(item)) step_begins(item);
  }
  items_.clear();
  return true;
}

inferred_steps periodicity::finish() {
  inferred_steps found;
  if (marked_) return found;
  if (!follow_) (void)search();
  constexpr std::uint32_t few = 2;
  found.has_few_calls = calls_apart_ != 0 && calls_apart_ <= few;
  found.end = last_event_;
  found.calls = std::move(call_begins_);
  if (auto calls = calls_of_layer(); calls.size() > found.calls.size())
    found.calls = std::move(calls);
  // What recurs within one call of a model, or within one backward pass, are layers.
  if (std::max(within_calls_, within_backwards_) * 2 > begins_.size()) return found;
  found.begins = std::move(begins_);
  if (found.begins.empty()) return found;
  const auto entries = static_cast<double>(found.begins.size());
  // Few repetitions may be chance, and no inference is certain.
  found.confidence = std::min(0.95, anchor_.explained * entries / (entries + 2));
  if (anchor_.by != period_anchor::kind::size) found.anchor = trace::stack_id{anchor_.number};
  return found;
}

}  // namespace memtrace::attribution
