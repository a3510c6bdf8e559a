// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "analyzer/show/live/screen.h"

namespace memtrace::live {

namespace {

using clock = std::chrono::steady_clock;
constexpr auto find_every = std::chrono::seconds(1);

}  // namespace

void session::find() {
  if (clock::now() < next_find_) return;
  next_find_ = clock::now() + find_every;
  for (const auto& path : traces_of(wanted_)) {
    auto& known = runs_[path];
    if (known != nullptr && known->state() != run_state::replaced) continue;
    auto opened = followed_run::open(path, wanted_.suppressions);
    if (opened) {
      if (known != nullptr) earlier_.push_back(std::move(known));
      known = std::move(*opened);
    } else if (opened.failure().code != trace::error_code::empty_file) {
      // An empty one is about to be written.
      complaint_ = path + ": " + opened.failure().message;
    }
  }
  std::erase_if(runs_, [](const auto& one) { return one.second == nullptr; });
}

void session::poll(std::chrono::milliseconds at_most) {
  find();
  has_more_ = false;
  const auto share = at_most / std::max<std::size_t>(1, runs_.size());
  for (auto& [path, run] : runs_) has_more_ = run->poll(share) || has_more_;
}

bool session::is_over() const {
  return std::ranges::all_of(runs_, [](const auto& one) { return one.second->is_over(); });
}

std::vector<followed_run*> session::runs() {
  std::vector<followed_run*> all;
  for (auto& [path, run] : runs_) all.push_back(run.get());
  std::ranges::stable_sort(all, {}, [](const followed_run* run) {
    return std::tuple(run->devices().empty(),
                      run->rank().value_or(std::numeric_limits<std::uint64_t>::max()),
                      run->header().start_realtime_ns, run->header().process_id);
  });
  return all;
}

shown_run session::shown(std::size_t number, std::size_t device) {
  const auto all = runs();
  auto& run = *all[number];
  run.look();
  const auto over = std::ranges::count_if(
      all, [&](const followed_run* one) { return one != &run && one->is_over(); });
  const auto used = run.devices();
  shown_run made{run,
                 run.busiest_device(),
                 number,
                 all.size(),
                 static_cast<std::size_t>(over),
                 reports_.latest(run.path()),
                 reports_.is_busy()};
  if (device != 0 && !used.empty()) {
    const auto busiest = std::ranges::find(used, made.device) - used.begin();
    made.device = used[(static_cast<std::size_t>(busiest) + device) % used.size()];
  }
  return made;
}

std::vector<shown_run> session::known() {
  const auto all = runs();
  std::vector<shown_run> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& run = *all[i];
    if (run.is_over()) {
      run.conclude();
    } else {
      run.look(true);
    }
    auto& made =
        found.emplace_back(shown_run{run, run.busiest_device(), i, all.size(), 0, nullptr, false});
    if (auto report = report_now(run.path(), {.suppressions = wanted_.suppressions})) {
      made.report = std::make_shared<const report_so_far>(std::move(*report));
    }
  }
  return found;
}

void print_once(const std::vector<shown_run>& all) {
  const auto facts = look_at_terminal();
  frame_options how;
  how.rows = 0;
  how.columns = facts.is_terminal ? size_of_terminal().columns : 96;
  how.unicode = facts.unicode || !facts.is_terminal;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) std::fputc('\n', stdout);
    const auto text =
        frame_of(all[i], how)
            .render(facts.colour, facts.is_terminal ? static_cast<unsigned>(how.columns) : 0);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

}  // namespace memtrace::live
