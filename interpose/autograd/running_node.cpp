// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/running_node.h"

#include <pthread.h>

#include <atomic>
#include <string_view>

#include "interpose/autograd/forward_places.h"
#include "interpose/autograd/node_names.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/base/errno_keeper.h"
#include "interpose/session/session.h"

namespace memtrace::autograd {
namespace {

thread_local constinit running_node* innermost = nullptr;
thread_local constinit unsigned execute_depth = 0;
std::atomic<unsigned> executes{0};
thread_local constinit bool belongs_to_engine = false;
thread_local constinit bool is_asked = false;

// The engine calls its threads pt_autograd_0, …
void ask_for_name() noexcept {
  const errno_keeper errno_stays;
  is_asked = true;
  char name[16] = {};
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return;
  belongs_to_engine = std::string_view(name).starts_with("pt_autograd");
}

void record(recorder& to, format::phase_action action) noexcept {
  to.phase({.action = action, .source = format::phase_source::backward});
}

}  // namespace

backward_mark::backward_mark() noexcept {
  ++execute_depth;
  executes.fetch_add(1, std::memory_order_acq_rel);
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  has_begun_ = true;
  record(*to, format::phase_action::begin);
}

backward_mark::~backward_mark() {
  --execute_depth;
  executes.fetch_sub(1, std::memory_order_acq_rel);
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to != nullptr && has_begun_) record(*to, format::phase_action::end);
}

running_node::running_node(const void* node) noexcept : node_(node), outer_(innermost) {
  innermost = this;
  if (!is_asked) [[unlikely]]
    ask_for_name();
}

running_node::~running_node() {
  innermost = outer_;
}

running_node* running_node::current() noexcept {
  return innermost;
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

unsigned running_backwards() noexcept {
  return executes.load(std::memory_order_acquire);
}

void in_forked_child() noexcept {
  executes.store(execute_depth);
}

bool is_in_backward() noexcept {
  return execute_depth > 0 || belongs_to_engine || innermost != nullptr;
}

bool is_engines_thread() noexcept {
  return belongs_to_engine || (innermost != nullptr && execute_depth == 0);
}

}  // namespace memtrace::autograd
