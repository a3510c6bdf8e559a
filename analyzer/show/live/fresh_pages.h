// SPDX-License-Identifier: Apache-2.0
//
// The page of a run that goes on: made again when somebody asks for it and the traces have changed,
// beside the training (idle_work.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "analyzer/run/model/model.h"
#include "analyzer/show/live/idle_work.h"
#include "analyzer/show/live/recordings.h"

namespace memtrace::live {

struct numbered_page {
  std::uint64_t number = 0;  // from 1: a later one is of a later moment
  std::string html;
};

class fresh_pages {
 public:
  // Makes the page of all processes, which were loaded with their history.
  using maker = std::function<std::string(const run::run_report& processes, std::uint64_t number)>;

  fresh_pages(recordings wanted, maker make) : shared_(std::make_shared<state>()) {
    shared_->wanted = std::move(wanted);
    shared_->make = std::move(make);
  }

  // The first one, in this thread. Otherwise why there is none, as a sentence; empty: all is well.
  [[nodiscard]] std::string begin();
  // The latest; and another one is made if it is old. After begin() only.
  [[nodiscard]] std::shared_ptr<const numbered_page> latest();
  [[nodiscard]] bool is_busy() const { return work_.is_busy(); }

 private:
  // The work's, too: it may outlive this object by a page.
  struct state {
    recordings wanted;  // of whoever makes a page
    maker make;
    std::string seen;  // how the traces were when the latest page was made
    std::mutex lock;
    std::shared_ptr<const numbered_page> page;
  };
  [[nodiscard]] static std::string make_page(state& of);

  std::shared_ptr<state> shared_;
  idle_work work_;
};

}  // namespace memtrace::live
