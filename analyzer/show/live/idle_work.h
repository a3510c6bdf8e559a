// SPDX-License-Identifier: Apache-2.0
//
// Work beside the training: in a thread that gives way to all others, one piece at a time, and at
// most a twentieth of the time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace memtrace::live {

class idle_work {
 public:
  // Begins a piece, unless one is in hand or, if it may `wait`, it is not time for another. False:
  // it did not. The piece may outlive this object.
  bool begin(std::function<void()> piece, bool may_wait = true);
  [[nodiscard]] bool is_busy() const { return shared_->busy.load(); }

 private:
  struct state {
    std::atomic<bool> busy = false;
    std::mutex lock;
    std::chrono::steady_clock::time_point next{};
  };
  std::shared_ptr<state> shared_ = std::make_shared<state>();
};

}  // namespace memtrace::live
