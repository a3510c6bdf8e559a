// SPDX-License-Identifier: Apache-2.0
//
// Follows the lives of all blocks while a trace is read, and keeps of them what verdicts need: a
// series for each device, call site and category, one value a step.
//
//   attributor ─► born, resized, ended, stepped ─► collector ─► step_clock
//                                                           ├─► device_lives (sites, the whole)
//                                                           ├─► category_series
//               census, held ────────────────────────────── └─► retention
//
// Steps are the program's own, else its optimizer's, else those that it is given. Blocks that are
// made and freed within a step cost two additions. Memory: 8 bytes a step and category, and what
// sparse_series and birth_steps need of sites whose memory outlives a step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/attribution/life_observer.h"
#include "analyzer/replay/replay.h"
#include "analyzer/verdicts/category_series.h"
#include "analyzer/verdicts/device_lives.h"
#include "analyzer/verdicts/retention.h"
#include "analyzer/verdicts/sites.h"
#include "analyzer/verdicts/step_clock.h"

namespace memtrace::verdicts {

class collector final : public attribution::life_observer {
 public:
  // `given`: events at which steps end, for programs without any of their own.
  collector(const trace::dictionary& names, const replay::replayer& replayed,
            std::vector<std::uint64_t> given = {})
      : sites_(names), replayed_(replayed), given_(std::move(given)), kept_(names) {}

  void before(const trace::event& head) override;
  void born(std::uint32_t device, const attribution::block_life& block) override;
  void resized(std::uint32_t device, const attribution::block_life& block,
               std::uint64_t difference) override;
  [[nodiscard]] bool ended(std::uint32_t device, const attribution::block_life& block,
                           const attribution::life_end& how) override;
  void judged(std::uint32_t device, const attribution::block_life& block,
              const attribution::life_end& how, const attribution::verdict& found) override;
  void stepped(const trace::event& head, const trace::step_event& record) override;
  void census(const trace::event& head, const trace::census_event& record) override;
  void held(std::uint32_t device, const attribution::block_life* block,
            const trace::storage_event& record) override;

  [[nodiscard]] const step_clock& clock() const { return clock_; }
  [[nodiscard]] const std::map<std::uint32_t, std::unique_ptr<device_lives>>& devices() const {
    return devices_;
  }
  [[nodiscard]] const category_series& categories() const { return categories_; }
  [[nodiscard]] const retention& kept() const { return kept_; }

 private:
  [[nodiscard]] device_lives& at(std::uint32_t device);
  [[nodiscard]] totals_now totals_of(std::uint32_t device) const;
  void end_step(std::uint64_t event, std::uint64_t time_ns);

  site_names sites_;
  const replay::replayer& replayed_;
  std::vector<std::uint64_t> given_;
  std::size_t given_passed_ = 0;
  bool by_user_ = false;
  step_clock clock_;
  std::map<std::uint32_t, std::unique_ptr<device_lives>> devices_;
  device_lives* latest_ = nullptr;  // of latest_device_
  std::uint32_t latest_device_ = 0;
  category_series categories_;
  retention kept_;
};

}  // namespace memtrace::verdicts
