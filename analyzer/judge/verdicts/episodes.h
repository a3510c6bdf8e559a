// SPDX-License-Identifier: Apache-2.0
//
// Growth within an evaluation, or within a phase that the program named, which is gone after it:
//
//   training  ▁▁▁▁▁        ▁▁▁▁▁        ▁▁▁▁▁     one value a step: steady
//   evaluation     ▁▃▅▇         ▁▃▅▇              one value a call of the model: grows
//
// Among all episodes of a name the one with the most points is kept. Costs nothing where a phase
// passes without a second call of a model or a second step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "analyzer/judge/verdicts/timeline.h"
#include "analyzer/model/attribution/block_life.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::verdicts {

class episodes {
 public:
  using totals_of_device = std::function<totals_now(std::uint32_t)>;

  // Points of an episode before the end of its first step in the timeline.
  static constexpr std::uint64_t first_points = 2;

  // A point in time of the episode that runs; the first ones begin it.
  void point(std::uint64_t event, std::uint64_t time_ns, const totals_of_device& totals_of);
  void end();
  // The points so far do not count: others will be of another kind.
  void start_again();
  void count_calls(bool calls) { by_calls_ = calls; }

  // Whether the points of the longest are calls of a model; steps otherwise.
  [[nodiscard]] bool by_calls() const {
    return longest() == now_.get() ? by_calls_ : longest_by_calls_;
  }
  // Null: none runs that has begun to count.
  [[nodiscard]] timeline* now() { return now_.get(); }
  [[nodiscard]] const timeline* now() const { return now_.get(); }
  // The longest of those that ended, and the one that runs; null: all were short.
  [[nodiscard]] const timeline* longest() const;
  // That may want to know of a block that was made in it.
  template <class Function>
  void for_each(Function&& function) {
    if (now_ != nullptr) function(*now_);
    if (longest_ != nullptr) function(*longest_);
  }

 private:
  std::uint64_t points_ = 0;
  bool by_calls_ = true;
  bool longest_by_calls_ = true;
  std::unique_ptr<timeline> now_;
  std::unique_ptr<timeline> longest_;
};

// Which episodes run: evaluations, from one step of training to the next, and the outermost phases
// that the program named.

class phase_episodes {
 public:
  // A block was made: is this another call of a model?
  void born(const attribution::block_life& block, std::uint64_t time_ns,
            const episodes::totals_of_device& totals_of) {
    if (block.born.captured) return;  // it runs when the graph is replayed
    const auto calls = block.born.passes.calls;
    if (few_steps_ && block.born.call != 0 && block.born.call != called_) {
      called_ = block.born.call;
      follow_parts(block.scope.root);
      if (all_models_.begins(block.scope.root)) run_.point(block.born_event, time_ns, totals_of);
    }
    if (block.born.during == attribution::phase::backward ||
        block.born.during == attribution::phase::optimizer)
      trains_ = true;
    if (block.born.during != attribution::phase::evaluation) {
      trained_ = trained_ || block.born.during == attribution::phase::backward;
    } else if (block.born.call != evaluated_) {
      evaluated_ = block.born.call;
      if (models_.begins(block.scope.root)) {
        evaluation_.point(block.born_event, time_ns, totals_of);
      }
    }
    if (calls == calls_) return;
    calls_ = calls;
    if (named_ != nullptr && !named_by_steps_) {
      named_->point(block.born_event, time_ns, totals_of);
    }
  }
  // `trains`: it is a step of training for sure.
  void stepped(const trace::event& head, bool trains, const episodes::totals_of_device& totals_of);
  void phase_changed(const trace::event& head, const trace::phase_event& record);

  template <class Function>
  void for_each_running(Function&& function) {
    if (evaluation_.now() != nullptr) function(*evaluation_.now());
    if (run_.now() != nullptr) function(*run_.now());
    if (named_ != nullptr && named_->now() != nullptr) function(*named_->now());
  }
  template <class Function>
  void for_each(Function&& function) {
    evaluation_.for_each(function);
    run_.for_each(function);
    if (first_part_) function(*first_part_);
    for (auto& [name, found] : by_name_) found.for_each(function);
  }
  // Whether a backward pass or an optimizer made anything.
  [[nodiscard]] bool trains() const { return trains_; }
  [[nodiscard]] const episodes& evaluation() const { return evaluation_; }
  // The whole run by calls of a model, for one whose steps are too few to tell (moves of an agent
  // that learns from each fifty of them). Null: steps are enough, or calls too few, too.
  [[nodiscard]] const timeline* run_by_calls() const {
    if (!few_steps_) return nullptr;
    return first_part_ && !comes_back_ ? &*first_part_ : run_.longest();
  }
  // There are enough steps.
  void forget_calls() {
    few_steps_ = false;
    run_.start_again();
    first_part_.reset();
  }
  [[nodiscard]] const std::map<trace::text_id, episodes>& by_name() const { return by_name_; }

 private:
  // After many calls of some models another one is called, and they are not any more: features are
  // made, then a classifier is trained on them.
  void follow_parts(trace::object_id root) {
    constexpr std::uint64_t many = 12;
    constexpr std::size_t few = 3;
    const bool is_known = called_models_.contains(root);
    if (first_part_) comes_back_ = comes_back_ || is_known;
    if (first_part_ || is_known || called_models_.size() > few) return;
    const auto* const now = run_.now();
    if (now != nullptr && now->clock().now() >= many) {
      first_part_ = *now;
    } else {
      called_models_.insert(root);
    }
  }

  bool trains_ = false;   // anywhere in the run
  bool trained_ = false;  // a backward pass has run since the latest step
  std::uint32_t evaluated_ = 0;
  rounds models_;  // that are called in turn
  std::uint32_t calls_ = 0;
  episodes evaluation_;
  bool few_steps_ = true;  // so far
  std::uint32_t called_ = 0;
  rounds all_models_;
  std::set<trace::object_id> called_models_;  // in its first part
  std::optional<timeline> first_part_;        // of the run, as it was when it was over
  bool comes_back_ = false;                   // a model of it is called again
  episodes run_;
  std::map<trace::text_id, episodes> by_name_;
  episodes* named_ = nullptr;  // of the outermost phase that is open
  trace::text_id name_;
  trace::thread_id thread_;  // that opened it
  std::uint32_t depth_ = 0;  // how often it is open
  bool named_by_steps_ = false;
};

}  // namespace memtrace::verdicts
