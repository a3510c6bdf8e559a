// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/search.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/plan/fit/law.h"

namespace memtrace::fit {

namespace {

constexpr std::uint64_t usual_first = 4;
// On one GPU: then the law is not asked any more.
constexpr std::size_t trusted_runs = 12;

// Two runs asked for the same, byte by byte, as far as both went.
[[nodiscard]] bool asked_the_same(const probe& one, const probe& other) {
  return std::ranges::equal(one.devices, other.devices, [](const auto& a, const auto& b) {
    if (!a.log || !b.log) return a.peak_allocated == b.peak_allocated;
    return common_allocations(*a.log, *b.log, a.step_ends, b.step_ends) &&
           ask_the_same(*a.log, *b.log);
  });
}

class search {
 public:
  search(const search_of& wanted, laws& known, prober& runs, const std::function<bool()>& may_run)
      : wanted_(wanted), known_(known), runs_(runs), may_run_(may_run) {}

  [[nodiscard]] boundary find() {
    const auto& range = wanted_.range;
    last_ = range.most / range.step * range.step;
    if (known_.empty() && !learn()) return std::move(found_);
    while (!is_done()) {
      const auto candidate = choose();
      if (expected_fit_ && *expected_fit_ && candidate < high()) {
        const auto total = wanted_.gpu.total_bytes;
        runs_.expect({trial_of(candidate, total), trial_of(candidate + step(), total)});
      }
      auto ran = run(candidate, wanted_.gpu.total_bytes);
      if (!ran || !take(std::move(*ran))) return std::move(found_);
      if (is_surprised_ && !known_.has_own(wanted_.gpu.capability) && !learn()) {
        return std::move(found_);
      }
    }
    found_.verified = true;
    found_.all_fit = found_.largest == last_;
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint64_t step() const { return wanted_.range.step; }
  // Batches that are not decided.
  [[nodiscard]] std::uint64_t low() const { return found_.largest + step(); }
  [[nodiscard]] std::uint64_t high() const {
    return found_.refused ? *found_.refused - step() : last_;
  }
  [[nodiscard]] bool is_done() const { return low() > high(); }

  [[nodiscard]] trial trial_of(std::uint64_t batch, std::uint64_t total_bytes) const {
    return {wanted_.gpu.model, total_bytes,           batch, wanted_.sequence, wanted_.variant,
            wanted_.what,      wanted_.training_batch};
  }

  // Nothing: the search is over, and found_ says why.
  [[nodiscard]] std::optional<probe> run(std::uint64_t batch, std::uint64_t total_bytes) {
    if (!may_run_()) {
      found_.why = "the budget is used up; the same command goes on from here";
      return std::nullopt;
    }
    ++found_.runs;
    auto ran = runs_.run(trial_of(batch, total_bytes));
    if (ran.came == verdict::fits) found_.hosts.push_back({batch, ran.host});
    if (ran.came == verdict::fits || ran.came == verdict::ran_out) return ran;
    found_.why = ran.why;
    found_.trouble = std::move(ran);
    return std::nullopt;
  }

  // The law of GPUs like this one: runs at two batches on a device that never runs out. False: the
  // search is over.
  [[nodiscard]] bool learn() {
    auto& own = known_.own(wanted_.gpu.capability);
    if (found_.fitted) own.add(*found_.fitted);
    const auto first = std::clamp(
        (std::max(wanted_.range.first, usual_first) + step() - 1) / step() * step(), step(), last_);
    auto second = std::min(2 * first, last_);
    if (second == first) second = std::max(step(), first / 2 / step() * step());
    if (own.points() == 0) {
      runs_.expect({trial_of(first, endless_bytes), trial_of(second, endless_bytes)});
    }
    std::optional<probe> before;
    for (const auto batch : {first, second}) {
      if (own.points() >= 2) break;
      auto ran = run(batch, endless_bytes);
      if (!ran) return false;
      if (ran->devices.empty() && ran->came == verdict::fits) {
        found_.why =
            "the program allocates nothing on a GPU: see that it uses cuda, and that memtrace "
            "dry-run -- COMMAND shows memory";
        found_.trouble = std::move(ran);
        return false;
      }
      own.add(*ran);
      if (before && before->of.batch != ran->of.batch && asked_the_same(*before, *ran)) {
        say_the_same(*before, std::move(*ran));
        return false;
      }
      before = std::move(ran);
    }
    is_surprised_ = false;
    surprises_ = 0;
    return true;
  }

  [[nodiscard]] std::uint64_t choose() {
    expected_fit_.reset();
    if (found_.tried.size() >= trusted_runs) return by_halves();
    const auto& rule = known_.of(wanted_.gpu.capability);
    const auto told = rule.largest(wanted_.gpu.total_bytes, low(), high(), step());
    if (!told) return by_halves();
    if (!found_.predicted) found_.predicted = *told;
    const auto candidate = *told == 0 ? low() : *told;
    if (surprises_ < 2) {
      expected_fit_ = *told != 0;
      return candidate;
    }
    // The law is off: away from what was seen, in growing steps.
    const auto stride = step() << std::min<std::uint64_t>(surprises_, 20);
    if (stride >= high() - low()) return by_halves();
    return goes_up_ ? std::max(candidate, low() + stride - step())
                    : std::min(candidate, high() - stride + step());
  }

  // Without a law: twice as much until it is too much, then by halves.
  [[nodiscard]] std::uint64_t by_halves() const {
    if (!found_.refused) return std::min(found_.largest == 0 ? low() : 2 * found_.largest, high());
    return low() + (high() - low()) / 2 / step() * step();
  }

  // False: the search is over, and found_ says why.
  [[nodiscard]] bool take(probe ran) {
    found_.tried.push_back(ran.of.batch);
    const bool fitted = ran.came == verdict::fits;
    is_surprised_ = expected_fit_ && *expected_fit_ != fitted;
    if (is_surprised_) goes_up_ = fitted;
    const bool goes_on = is_surprised_ || (!expected_fit_ && fitted == goes_up_);
    surprises_ = goes_on ? surprises_ + 1 : 0;
    if (!fitted) {
      found_.refused = ran.of.batch;
      found_.ran_out = std::move(ran);
      return true;
    }
    if (found_.fitted && asked_the_same(*found_.fitted, ran)) {
      say_the_same(*found_.fitted, std::move(ran));
      return false;
    }
    found_.largest = ran.of.batch;
    if (known_.has_own(wanted_.gpu.capability)) known_.own(wanted_.gpu.capability).add(ran);
    found_.fitted = std::move(ran);
    return true;
  }

  void say_the_same(const probe& before, probe ran) {
    found_.why = fmt::format(
        "the program needs the same memory at batch {} and at {}: it does not take the batch from "
        "there, or has not so much data; look at the option's name, and at the size of the data",
        before.of.batch, ran.of.batch);
    found_.trouble = std::move(ran);
  }

  const search_of& wanted_;
  laws& known_;
  prober& runs_;
  const std::function<bool()>& may_run_;
  boundary found_;
  std::uint64_t last_ = 0;
  std::optional<bool> expected_fit_;  // of the run at hand; empty: nothing was expected
  bool goes_up_ = true;               // the law says too little
  bool is_surprised_ = false;
  std::uint64_t surprises_ = 0;
};

[[nodiscard]] std::string workers_of(const host_use& used) {
  if (used.workers == 0) return {};
  const auto count = fmt::format("{} worker{}", used.workers, used.workers == 1 ? "" : "s");
  if (used.looked_at == 0) return fmt::format("; {} beside it that were not looked at", count);
  auto text = fmt::format("; {} with {} each at most, which one worker more would add", count,
                          text::format_bytes(used.worker_peak));
  if (used.looked_at < used.workers) {
    const auto others = (used.workers - used.looked_at) * used.worker_peak;
    text += fmt::format("; {} of them were looked at, so that it may be {} more", used.looked_at,
                        text::format_bytes(others));
  }
  return text;
}

}  // namespace

std::optional<host_side> host_side_of(const std::vector<host_point>& seen) {
  host_side made;
  double sum_x = 0;
  double sum_y = 0;
  std::uint64_t largest = 0;
  for (const auto& one : seen) {
    if (one.used.together == 0) continue;
    ++made.points;
    sum_x += static_cast<double>(one.batch);
    sum_y += static_cast<double>(one.used.together);
    if (one.batch < largest) continue;
    largest = one.batch;
    made.most = one.used;
  }
  if (made.points == 0) return std::nullopt;
  const auto count = static_cast<double>(made.points);
  double square = 0;
  double product = 0;
  for (const auto& one : seen) {
    if (one.used.together == 0) continue;
    const auto x = static_cast<double>(one.batch) - sum_x / count;
    square += x * x;
    product += x * (static_cast<double>(one.used.together) - sum_y / count);
  }
  if (square > 0) made.per_item = std::max(0.0, product / square);
  made.constant = (sum_y - made.per_item * sum_x) / count;
  return made;
}

std::string sentence_of(const host_side& found, std::uint64_t batch) {
  const auto bytes = [](double value) {
    return text::format_bytes(static_cast<std::uint64_t>(std::max(0.0, value)));
  };
  const auto at = found.constant + found.per_item * static_cast<double>(batch);
  auto text = found.per_item == 0
                  ? fmt::format("{} whatever the batch", bytes(found.constant))
                  : fmt::format("{} + {} · batch = {} at batch {}", bytes(found.constant),
                                bytes(found.per_item), bytes(at), batch);
  text += fmt::format(", from {} dry run{}", found.points, found.points == 1 ? "" : "s");
  text += workers_of(found.most);
  if (found.most.pinned != 0) {
    text += fmt::format("; {} of it pinned", text::format_bytes(found.most.pinned));
  }
  if (found.most.limit != 0) {
    const auto share = 100 * at / static_cast<double>(found.most.limit);
    text += fmt::format(
        "; that is {:.0f} % of the limit of {}{}", share, text::format_bytes(found.most.limit),
        share > 80 ? ": more than 80 % leaves little for what else runs there" : "");
  }
  return text;
}

boundary find_boundary(const search_of& wanted, laws& known, prober& runs,
                       const std::function<bool()>& may_run) {
  return search(wanted, known, runs, may_run).find();
}

}  // namespace memtrace::fit
