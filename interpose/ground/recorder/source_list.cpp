// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/source_list.h"

#include <limits.h>

#include <new>
#include <utility>

#include "memtrace/trace_format.h"
#include "memtrace/user_code.h"

namespace memtrace {
namespace {

// Whether there may be such a file: <string> and a notebook's cells are in none.
bool may_be_read(std::string_view path) noexcept {
  return is_user_code(path) && path.front() != '<' && path.size() < PATH_MAX &&
         path.find('\0') == path.npos;
}

}  // namespace

void source_list::list(std::uint32_t id, std::string_view path) noexcept {
  // A signal's handler may be on top of this thread's own call: then its file has to come again.
  constexpr std::uint32_t patience_ms = 10;
  if (!lock_.try_lock_for(patience_ms)) return;
  bool is_new = false;
  try {
    is_new = add(id, path);
  } catch (const std::bad_alloc&) {
    // One file less.
  }
  lock_.unlock();
  if (is_new) wake();
}

bool source_list::add(std::uint32_t id, std::string_view path) {
  if (id < is_known_.size() && is_known_[id]) return false;
  if (id >= is_known_.size()) is_known_.resize(std::size_t{id} + 1);
  is_known_[id] = true;
  if (!may_be_read(path) || all_.size() == format::most_sources) return false;
  all_.push_back({id, std::string(path)});
  return true;
}

bool source_list::take(entry& next) noexcept {
  const lock_holder holder(lock_);
  if (next_ == all_.size()) return false;
  next = std::move(all_[next_++]);
  return true;
}

void source_list::wake() noexcept {
  news_.fetch_add(1, std::memory_order_release);
  futex_wake_all(news_);
}

}  // namespace memtrace
