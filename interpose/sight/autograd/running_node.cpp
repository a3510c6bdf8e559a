// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/running_node.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/autograd/forward_places.h"
#include "interpose/sight/autograd/is_allowed.h"
#include "interpose/sight/autograd/node_names.h"
#include "interpose/sight/autograd/tensor_layout.h"

namespace memtrace::autograd {

thread_local constinit detail::engine_state detail::engine{};

namespace {

using detail::engine;

std::atomic<unsigned> executes{0};
std::atomic<unsigned> nodes{0};
std::atomic<bool> are_seen{false};
std::atomic<bool> has_one_failed{false};

// Other threads of a pass that has failed end their nodes after its execute has returned.
bool is_unseen() noexcept {
  return executes.load(std::memory_order_acquire) == 0 &&
         !has_one_failed.load(std::memory_order_acquire);
}

void refuse(const char* why) noexcept {
  const errno_keeper errno_stays;
  refusals::refuse(capability::autograd, why);
}

// The engine calls its threads pt_autograd_0, …
void ask_for_name() noexcept {
  const errno_keeper errno_stays;
  engine.is_asked = true;
  char name[16] = {};
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return;
  engine.belongs_to_engine = std::string_view(name).starts_with("pt_autograd");
}

void record(recorder& to, format::phase_action action) noexcept {
  to.phase({.action = action, .source = format::phase_source::backward});
}

}  // namespace

backward_mark::backward_mark() noexcept : exceptions_(std::uncaught_exceptions()) {
  ++engine.execute_depth;
  executes.fetch_add(1, std::memory_order_acq_rel);
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  has_begun_ = true;
  record(*to, format::phase_action::begin);
}

backward_mark::~backward_mark() {
  if (std::uncaught_exceptions() > exceptions_) has_one_failed.store(true);
  --engine.execute_depth;
  executes.fetch_sub(1, std::memory_order_acq_rel);
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to != nullptr && has_begun_) record(*to, format::phase_action::end);
}

running_node::running_node(const void* node) noexcept : node_(node), outer_(engine.innermost) {
  engine.innermost = this;
  nodes.fetch_add(1, std::memory_order_acq_rel);
  if (!engine.is_asked) [[unlikely]]
    ask_for_name();
  if (is_unseen()) [[unlikely]] {
    refuse("a backward pass ran that Engine::execute was not called for");
  } else if (!are_seen.load(std::memory_order_relaxed)) [[unlikely]] {
    are_seen.store(true, std::memory_order_release);
  }
}

running_node::~running_node() {
  engine.innermost = outer_;
  nodes.fetch_sub(1, std::memory_order_acq_rel);
}

unsigned running_node::depth() noexcept {
  unsigned count = 0;
  for (const running_node* at = engine.innermost; at != nullptr; at = at->outer_) ++count;
  return count;
}

const forward_place& running_node::place(const recorder& to) noexcept {
  if (is_looked_up_) return place_;
  if (!is_confirmed()) return place_;
  is_looked_up_ = true;
  if (!forward_places::find(thread_of(node_), sequence_number(node_), place_) ||
      place_.generation != to.generation()) {
    place_ = {};
  }
  return place_;
}

std::uint32_t running_node::name(recorder& to) noexcept {
  if (name_generation_ == to.generation()) return name_;
  name_ = node_name(to, node_);
  name_generation_ = to.generation();
  return name_;
}

bool backwards_are_seen() noexcept {
  return are_seen.load(std::memory_order_acquire) && is_allowed();
}

unsigned running_backwards() noexcept {
  return std::max(executes.load(std::memory_order_acquire), nodes.load(std::memory_order_acquire));
}

void detail::see_allocation() noexcept {
  if (!engine.is_asked) ask_for_name();
  if (engine.belongs_to_engine && is_unseen() && settings::is_on(capability::autograd)) {
    refuse("a backward pass ran that no hook was called for");
  }
}

void in_forked_child() noexcept {
  executes.store(engine.execute_depth);
  nodes.store(running_node::depth());
}

}  // namespace memtrace::autograd
