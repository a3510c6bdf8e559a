// SPDX-License-Identifier: Apache-2.0
//
// The files of the user's own that a trace names, each once, until they are read: whoever names one
// is inside an event, and looks at no file.
//
//   intern(), heap scan ─► meet() ─► [waiting] ─► take() ─► a thread of ours reads it
//                                                 (session/program_sources.cpp)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/ground/base/small_lock.h"

namespace memtrace {

class source_list {
 public:
  struct entry {
    std::uint32_t id = 0;  // the file's name in the trace: a text
    std::string path;
  };

  source_list() = default;
  source_list(const source_list&) = delete;
  source_list& operator=(const source_list&) = delete;

  // Nothing is listed before.
  void begin() noexcept { is_wanted_.store(true, std::memory_order_release); }

  // Any thread, under any lock; no file is looked at.
  void meet(std::uint32_t id, std::string_view path) noexcept {
    if (id != 0 && is_wanted_.load(std::memory_order_relaxed)) list(id, path);
  }

  // False: none waits.
  [[nodiscard]] bool take(entry& next) noexcept;

  // A word that changes when a file has come: what to sleep by (futex.h).
  [[nodiscard]] std::atomic<std::uint32_t>& news() noexcept { return news_; }
  void wake() noexcept;

 private:
  void list(std::uint32_t id, std::string_view path) noexcept;
  [[nodiscard]] bool add(std::uint32_t id, std::string_view path);  // whether it is to be read

  std::atomic<bool> is_wanted_{false};
  std::atomic<std::uint32_t> news_{0};
  small_lock lock_;             // of what follows; held for no longer than a copy of a name
  std::vector<bool> is_known_;  // by id
  std::vector<entry> all_;      // those before `next_` have lost their path
  std::size_t next_ = 0;
};

}  // namespace memtrace
