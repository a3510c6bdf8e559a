// SPDX-License-Identifier: Apache-2.0
//
// Runs what is expected beside what is asked for, so many at once. What was begun and is not asked
// for after all is run for nothing; it is not counted by whoever asks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

class side_prober final : public prober {
 public:
  // `runs` is called from several threads at once. With one job nothing is expected.
  side_prober(prober& runs, std::size_t jobs);
  side_prober(const side_prober&) = delete;
  side_prober& operator=(const side_prober&) = delete;
  ~side_prober() override;  // waits for what runs

  [[nodiscard]] probe run(const trial& wanted) override;
  void expect(const std::vector<trial>& soon) override;

 private:
  struct order {
    trial wanted;
    bool begun = false;
    std::optional<probe> ran;
  };
  void work();
  [[nodiscard]] order& order_of(const trial& wanted);

  prober& runs_;
  std::size_t jobs_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::list<order> orders_;     // a run's place stays where it is
  std::deque<order*> waiting_;  // that nobody has begun
  bool closed_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace memtrace::fit
