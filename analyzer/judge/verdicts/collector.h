// SPDX-License-Identifier: Apache-2.0
//
// Follows the lives of all blocks while a trace is read, and keeps of them what verdicts need.
//
//   attributor ─► born, resized, ended, stepped ─► collector ─┬► track: the steps of the run
//                                                             ├► phase_episodes: calls within them
//                                                             ├► category_series
//                 heap scan, held ───────────────────────────────┴► retention
//
// Steps are the program's own, else its optimizer's, else those that it is given. A block that is
// made and freed within a step costs two additions. Memory: some 100 bytes a step, and what
// sparse_series and generations need of sites whose memory outlives a step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/episodes.h"
#include "analyzer/judge/verdicts/module_uses.h"
#include "analyzer/judge/verdicts/retention.h"
#include "analyzer/judge/verdicts/sites.h"
#include "analyzer/judge/verdicts/timeline.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::verdicts {

// Whose requests made the allocator reserve more, after the first steps: the suspects where
// reserved memory grows and allocated memory does not.

class segment_makers {
 public:
  // A block was made in this step; so much is reserved now.
  void born(std::uint32_t site, const attribution::block_life& block, std::uint64_t reserved,
            std::uint64_t step) {
    if (reserved > reserved_ && step >= first_steps) note(site, block, reserved - reserved_);
    reserved_ = reserved;
  }
  // The suspects of a growth of so many bytes a step; most first.
  [[nodiscard]] std::vector<suspect> suspects(double bytes_per_step) const;

 private:
  static constexpr std::uint64_t first_steps = 3;  // in which what is needed anyway is reserved

  void note(std::uint32_t site, const attribution::block_life& block, std::uint64_t bytes);

  std::uint64_t reserved_ = 0;
  std::map<std::uint32_t, suspect> by_site_;
};

class collector final : public attribution::life_observer {
 public:
  // `given`: events at which steps end, for programs without any of their own.
  collector(const trace::dictionary& names, const replay::replayer& replayed,
            std::vector<std::uint64_t> given = {})
      : sites_(names),
        replayed_(replayed),
        given_(std::move(given)),
        totals_([this](std::uint32_t device) { return totals_of(device); }),
        names_(names),
        modules_(names),
        kept_(names) {}
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  void before(const trace::event& head) override;
  void born(std::uint32_t device, const attribution::block_life& block) override;
  void resized(std::uint32_t device, const attribution::block_life& block,
               std::uint64_t difference) override;
  // What is asleep is no holding of its site, as in the device's total.
  void slept(std::uint32_t device, const attribution::block_life& block,
             std::uint64_t difference) override {
    resized(device, block, ~difference + 1);
  }
  [[nodiscard]] bool ended(std::uint32_t device, const attribution::block_life& block,
                           const attribution::life_end& how) override;
  void judged(std::uint32_t device, const attribution::block_life& block,
              const attribution::life_end& how, const attribution::classification& found) override;
  void stepped(const trace::event& head, const trace::step_event& record) override;
  void named(const trace::module_event& record) override { modules_.named(record); }
  void phase_changed(const trace::event& head, const trace::phase_event& record) override;
  void census(const trace::event& head, const trace::heap_scan_event& record) override;
  void held(std::uint32_t device, const attribution::block_life* block,
            const trace::storage_event& record) override;

  [[nodiscard]] const timeline& steps() const { return steps_; }
  [[nodiscard]] const phase_episodes& phases() const { return phases_; }
  [[nodiscard]] const segment_makers& makers(std::uint32_t device) const {
    return devices_.at(device).makers;
  }
  [[nodiscard]] const category_series& categories() const { return categories_; }
  [[nodiscard]] const module_uses& modules() const { return modules_; }
  [[nodiscard]] const retention& kept() const { return kept_; }
  [[nodiscard]] std::uint64_t births() const { return births_; }
  [[nodiscard]] std::uint64_t last_birth() const { return last_birth_; }  // its event

 private:
  // The holdings of a device, now.
  struct holdings {
    std::vector<site_holding> by_site;
    device_timeline* steps = nullptr;
    segment_makers makers;
    [[nodiscard]] site_holding& at(std::uint32_t site) {
      if (site >= by_site.size()) by_site.resize(site + std::size_t{1});
      return by_site[site];
    }
  };
  [[nodiscard]] holdings& at(std::uint32_t device);
  [[nodiscard]] std::uint64_t allocated(std::uint32_t device) const;
  [[nodiscard]] std::uint64_t reserved(std::uint32_t device) const;
  [[nodiscard]] std::uint64_t in_use(std::uint32_t device) const;
  [[nodiscard]] totals_now totals_of(std::uint32_t device) const;
  void end_step(const trace::event& head, std::uint64_t event);

  site_names sites_;
  const replay::replayer& replayed_;
  std::vector<std::uint64_t> given_;
  const std::function<totals_now(std::uint32_t)> totals_;
  std::size_t given_passed_ = 0;
  bool by_user_ = false;
  std::uint64_t births_ = 0;
  std::uint64_t last_birth_ = 0;
  std::uint64_t time_ns_ = 0;  // of the event at hand
  timeline steps_;
  phase_episodes phases_;
  std::map<std::uint32_t, holdings> devices_;
  holdings* latest_ = nullptr;  // of latest_device_
  std::uint32_t latest_device_ = 0;
  category_series categories_;
  const trace::dictionary& names_;
  module_uses modules_;
  std::unordered_set<std::uint64_t>
      in_graphs_;  // born events of what the latest heap scan found there
  retention kept_;
};

// From what was collected to verdicts, in this order: the device as a whole, judged by its call
// sites; where that does not grow, what it reserves; memory outside of PyTorch; single call sites;
// categories; and memory that grows within an evaluation or a phase that the program named. Each
// device has a verdict, the others only where they grow. `unit`: what the steps are. Then what
// keeps what grows, whether the program bounds it, and what of it is expected: by the program, and
// by `suppressions`. Every face gets its answer from here.
[[nodiscard]] findings conclude(const collector& collected, const replay::replayer& replayed,
                                const trace::dictionary& names, const std::string& unit = "step",
                                const std::vector<expectation>& suppressions = {});

}  // namespace memtrace::verdicts
