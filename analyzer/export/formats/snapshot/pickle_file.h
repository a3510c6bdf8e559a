// SPDX-License-Identifier: Apache-2.0
//
// A snapshot's pickle while it is written, front to back, in memory that does not grow with it:
//
//   {}                                                        the snapshot
//   "device_traces" ← a stack's frames, stored as 61          a definition: what events refer to
//   "device_traces" ← a stack's frames, stored as 62
//   "device_traces" ← list 60, and 1,000 events more          of one device
//   …
//   "device_traces" ← [list 60, list 63]                      at last what stays
//
// The viewer knows no POP. So whatever is made before its place is there is set as the value of one
// key, which gets another value the next time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/snapshot/pickle.h"

namespace memtrace::exporting {

// Words that snapshots use again and again, each stored under its number from the beginning on.
#define MEMTRACE_SNAPSHOT_WORDS(X) \
  X(device_traces)                 \
  X(action)                        \
  X(addr)                          \
  X(size)                          \
  X(stream)                        \
  X(time_us)                       \
  X(frames)                        \
  X(user_metadata)                 \
  X(category)                      \
  X(device_free)                   \
  X(alloc)                         \
  X(free_requested)                \
  X(free_completed)                \
  X(segment_alloc)                 \
  X(segment_free)                  \
  X(segment_map)                   \
  X(segment_unmap)                 \
  X(oom)                           \
  X(snapshot)                      \
  X(name)                          \
  X(filename)                      \
  X(line)                          \
  X(segments)                      \
  X(device)                        \
  X(address)                       \
  X(total_size)                    \
  X(allocated_size)                \
  X(active_size)                   \
  X(requested_size)                \
  X(segment_type)                  \
  X(small)                         \
  X(large)                         \
  X(segment_pool_id)               \
  X(is_expandable)                 \
  X(blocks)                        \
  X(state)                         \
  X(active_allocated)              \
  X(active_pending_free)           \
  X(inactive)                      \
  X(unknown)

enum class word : pickle::memo {
#define MEMTRACE_WORD(name) name,
  MEMTRACE_SNAPSHOT_WORDS(MEMTRACE_WORD)
#undef MEMTRACE_WORD
      count
};

inline void get(std::string& to, word which) {
  pickle::get(to, static_cast<pickle::memo>(which));
}

class pickle_file {
 public:
  explicit pickle_file(destination& to);
  pickle_file(const pickle_file&) = delete;
  pickle_file& operator=(const pickle_file&) = delete;

  // Stores the value that `make(text)` appends. What it refers to is defined already.
  template <class Make>
  [[nodiscard]] pickle::memo define(const Make& make) {
    const auto stored = next_++;
    get(bytes_, word::device_traces);
    make(bytes_);
    pickle::store(bytes_, stored);
    pickle::set_item(bytes_);
    pass_on();
    return stored;
  }
  [[nodiscard]] pickle::memo define_text(std::string_view utf8) {
    return define([&](std::string& to) { pickle::text(to, utf8); });
  }
  // So many values, at most pickle::most_appended, go to the end of a stored list.
  void extend(pickle::memo list, std::string_view values);
  // Into the snapshot itself: the value that `make(text)` appends.
  template <class Make>
  void set(std::string_view name, const Make& make) {
    pickle::text(bytes_, name);
    make(bytes_);
    pickle::set_item(bytes_);
    pass_on();
  }
  template <class Make>
  void set(word name, const Make& make) {
    get(bytes_, name);
    make(bytes_);
    pickle::set_item(bytes_);
    pass_on();
  }
  void end();

 private:
  void pass_on();  // what has gathered

  destination& to_;
  std::string bytes_;
  pickle::memo next_ = static_cast<pickle::memo>(word::count);
};

// A list of values that are made one after the other, in portions that the viewer can take.
class list_maker {
 public:
  explicit list_maker(std::string& to) : to_(to) { pickle::list(to_); }
  list_maker(const list_maker&) = delete;
  list_maker& operator=(const list_maker&) = delete;
  ~list_maker() {
    if (portion_ != 0) pickle::appends(to_);
  }
  // Before each value.
  void next() {
    if (portion_ == pickle::most_appended) {
      pickle::appends(to_);
      portion_ = 0;
    }
    if (portion_++ == 0) pickle::mark(to_);
  }

 private:
  std::string& to_;
  std::size_t portion_ = 0;
};

}  // namespace memtrace::exporting
