// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/judge_host.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/judge/host/grid.h"
#include "analyzer/judge/verdicts/device_series.h"

namespace memtrace::host {

namespace {

// A process gains some memory by the way, which does not matter: a heap grows by arenas, and the
// recorder's own two windows of the trace (2.6 MB) fill up, where the trace lies in memory.
constexpr std::uint64_t negligible_growth = 4u << 20;
// Memory that was freed stays resident until malloc gives it back: from its trim threshold on, which
// is twice its threshold for mmap, and that is at most 32 MiB on 64-bit machines (mallopt(3),
// M_MMAP_THRESHOLD). What has come since the start-up, and is less, may be free.
constexpr std::uint64_t kept_by_malloc = 64u << 20;
// Pinned memory is known exactly, to the page.
constexpr std::uint64_t page = 4096;
// Two of the driver's smallest portions.
constexpr std::uint64_t device_granularity = 4u << 20;

// Call sites are numbered where GPU memory is got.
constexpr std::uint32_t no_site = ~0U;

struct room_left {
  std::uint64_t capacity = 0;  // 0: not known
  std::uint64_t used = 0;
};

// By the step, where the series has one value every `stride` steps.
void count_by_steps(growth::judgement& found, const host_grid& on, std::uint64_t capacity) {
  const auto stride = static_cast<double>(on.stride);
  for (double* const rate :
       {&found.bytes_per_step, &found.bytes_per_step_low, &found.bytes_per_step_high}) {
    *rate /= stride;
  }
  for (auto& change : found.changes) change.step = on.first_step + change.step * on.stride;
  found.more_steps_needed *= on.stride;
  found.evidence.steps *= on.stride;
  found.evidence.warmup_steps *= on.stride;
  found.evidence.step_resolution *= on.stride;
  found.negligible = is_leak(found.shape) && growth::is_negligible(found.bytes_per_step, capacity);
  found.overturned_by = growth::overturned_by(found);
}

void leave_open(growth::judgement& found, std::uint64_t more_steps_needed) {
  found.shape = growth::shape::unknown;
  found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
  found.negligible = false;
  found.more_steps_needed = more_steps_needed;
  found.overturned_by = growth::overturned_by(found);
}

// A few samples of a process that has just begun rise for many reasons: a leak that is less likely
// than not is no verdict yet.
void leave_open_what_is_unlikely(growth::judgement& found) {
  if (is_leak(found.shape) && found.confidence < 0.5) leave_open(found, found.evidence.steps);
}

// Growth that may be free memory is no verdict yet. What a first step loads and makes comes before it.
void leave_open_what_may_be_free(growth::judgement& found, std::span<const std::uint64_t> values,
                                 std::uint64_t stride) {
  if (!is_leak(found.shape) || values.empty()) return;
  const auto before =
      std::min<std::size_t>(found.evidence.warmup_steps / stride, values.size() - 1);
  const auto come = values.back() - std::min(values[before], values.back());
  if (come >= kept_by_malloc) return;
  const auto steps = static_cast<double>(kept_by_malloc - come) / found.bytes_per_step;
  constexpr double most = 1e9;
  leave_open(found, static_cast<std::uint64_t>(std::ceil(std::clamp(steps, 1.0, most))));
}

void say_when(verdicts::verdict& made, const host_grid& on, const room_left& room) {
  if (!is_leak(made.found.shape) || room.capacity == 0) return;
  made.steps_to_oom =
      growth::steps_to_oom(made.bytes_per_step, {room.capacity, static_cast<double>(room.used), 0});
  constexpr double most = 9e18;
  if (made.steps_to_oom && on.ns_per_step > 0) {
    made.ns_to_oom = static_cast<std::uint64_t>(
        std::min(static_cast<double>(*made.steps_to_oom) * on.ns_per_step, most));
  }
}

struct judged_series {
  verdicts::subject about;
  std::span<const sample> samples;
  std::uint64_t negligible = 0;
  room_left room;
  bool of_malloc = false;  // resident memory of processes
};

[[nodiscard]] verdicts::verdict judge_series(const judged_series& given, const host_grid& on) {
  const auto values = at_points(given.samples, on);
  verdicts::verdict made;
  made.about = given.about;
  made.found =
      growth::judge(std::span<const std::uint64_t>(values),
                    {.capacity_bytes = given.room.capacity, .negligible_bytes = given.negligible});
  count_by_steps(made.found, on, given.room.capacity);
  leave_open_what_is_unlikely(made.found);
  if (given.of_malloc) leave_open_what_may_be_free(made.found, values, on.stride);
  made.bytes_per_step = made.found.bytes_per_step;
  verdicts::thinned_series thin;
  for (const auto value : values) thin.add(value, 1);
  made.series = thin.shown();
  made.series.first_step = on.first_step + made.series.first_step * on.stride;
  made.series.stride *= on.stride;
  made.unit = on.has_steps ? "step" : "sample";
  say_when(made, on, given.room);
  return made;
}

[[nodiscard]] std::vector<sample> as_samples(std::span<const replay::pinned_change> changes) {
  std::vector<sample> made;
  // Between two changes nothing happens: a step, not a slope.
  for (const auto& change : changes) {
    if (!made.empty() && made.back().time_ns + 1 < change.time_ns) {
      made.push_back({change.time_ns - 1, made.back().bytes});
    }
    made.push_back({change.time_ns, change.total});
  }
  return made;
}

// All ends of steps are points, up to so many: pinned memory is known at every moment.
[[nodiscard]] host_grid grid_of_ends(std::span<const std::uint64_t> step_ends) {
  constexpr std::size_t most = 4096;
  host_grid made;
  if (step_ends.size() < 2) return made;
  made.has_steps = true;
  made.ns_per_step = static_cast<double>(step_ends.back() - step_ends.front()) /
                     static_cast<double>(step_ends.size() - 1);
  made.stride = (step_ends.size() + most - 1) / most;
  for (std::size_t i = 0; i < step_ends.size(); i += made.stride) {
    made.times.push_back(step_ends[i]);
  }
  return made;
}

// Whose pinned memory stayed since the first step's end.
[[nodiscard]] std::vector<verdicts::suspect> suspects_of(
    std::span<const replay::pinned_change> changes, std::span<const std::uint64_t> step_ends,
    const verdicts::verdict& whole) {
  struct gain {
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
  };
  std::map<std::uint32_t, gain> by_stack;
  const auto begin = step_ends.empty() ? 0 : step_ends.front();
  const auto end = step_ends.empty() ? ~std::uint64_t{0} : step_ends.back();
  std::int64_t all = 0;
  for (const auto& change : changes) {
    if (change.time_ns <= begin || change.time_ns > end || change.site.is_thread) continue;
    auto& gained = by_stack[change.site.number];
    gained.bytes += change.difference;
    gained.blocks += change.difference < 0 ? -1 : 1;
  }
  for (const auto& [stack, gained] : by_stack) all += std::max<std::int64_t>(0, gained.bytes);
  std::vector<verdicts::suspect> found;
  for (const auto& [stack, gained] : by_stack) {
    if (gained.bytes <= 0) continue;
    auto& one = found.emplace_back();
    one.site = no_site;
    one.stack = trace::stack_id{stack};
    one.found = whole.found;
    one.share = static_cast<double>(gained.bytes) / static_cast<double>(all);
    one.bytes = static_cast<std::uint64_t>(gained.bytes);
    one.blocks = static_cast<std::uint64_t>(std::max<std::int64_t>(0, gained.blocks));
    one.bytes_per_step = whole.bytes_per_step * one.share;
  }
  std::ranges::sort(found, std::greater(), &verdicts::suspect::bytes);
  constexpr std::size_t most = 8;
  if (found.size() > most) found.resize(most);
  return found;
}

void leave_open(verdicts::verdict& made, std::uint64_t more_steps_needed) {
  leave_open(made.found, more_steps_needed);
  made.bytes_per_step = 0;
  made.steps_to_oom = made.ns_to_oom = std::nullopt;
  made.suspects.clear();
}

// PyTorch pins a buffer when all that it has are in use: their number rises by chance up to as many
// as are ever in use at once (a DataLoader's prefetched batches), some tens of steps long, or longer
// on a busy machine. Memory that is pinned in nearly every step is another thing.
void let_buffers_settle(verdicts::verdict& pinned, std::span<const std::uint64_t> values) {
  constexpr std::size_t settled = 60;  // steps
  if (!is_leak(pinned.found.shape)) return;
  std::size_t rises = 0;
  std::size_t later = 0;  // of them, in the second half
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) continue;
    ++rises;
    later += 2 * i > values.size() ? 1 : 0;
  }
  if (10 * rises >= 9 * (values.size() - 1)) return;
  // What fills by chance rises more and more rarely: here less than half as often as before.
  if (values.size() >= settled && 3 * later >= rises) return;
  leave_open(pinned, std::max(settled, 2 * values.size()) - values.size());
}

// A program that starts gets memory for many reasons: of the GPU, for one, a pool of its own that it
// fills piece by piece.
void leave_open_before_steps(verdicts::verdict& made, std::size_t steps) {
  constexpr std::size_t fewest = 12;
  if (made.found.shape == growth::shape::unknown || steps >= fewest) return;
  leave_open(made, fewest - steps);
}

// Each token of a sequence has a length of its own, and libraries may keep what they made for a
// length. Only a second sequence, or its end, tells that from a leak.
void leave_open_in_a_sequence(verdicts::verdict& made, std::size_t steps, std::uint64_t positions) {
  const bool is_process =
      made.about.kind == verdicts::subject_kind::host && made.about.name.empty();
  if (!is_process || !is_leak(made.found.shape) || positions <= steps) return;
  leave_open(made, positions - steps);
}

void leave_open_because(verdicts::verdict& made, std::uint64_t more_steps_needed,
                        std::string_view why) {
  const auto rate = made.bytes_per_step;
  leave_open(made, more_steps_needed);
  made.summary = open_growth(made, rate, why);
}

// A loop that collects results on a GPU gets small objects for them, too, and may collect on the host
// besides. It has ended, and no later step tells whether that goes on.
void leave_open_in_a_loop(verdicts::verdict& made) {
  const bool is_of_malloc =
      made.about.kind == verdicts::subject_kind::host && made.about.name != "pinned";
  if (!is_of_malloc || !is_leak(made.found.shape)) return;
  made.fix.reset();
  leave_open_because(made, 0, " in a loop that has ended: no later one tells whether it grows");
}

// Free memory is there for later requests. A hole stays one as long as a small object that stays lies in
// the way: there are ever more holes only where such objects pile up.
void leave_open_what_is_free(verdicts::verdict& made) {
  if (!is_leak(made.found.shape) || !made.fix || made.fix->id != free_heap) return;
  leave_open_because(made, made.found.evidence.steps,
                     ", at least half of it by free memory in malloc's heap, which is there for "
                     "later requests: whether it grows on is not settled");
}

class host_judge {
 public:
  host_judge(const host_samples& samples, std::span<const std::uint64_t> step_ends,
             const known_steps& known)
      : samples_(samples),
        step_ends_(step_ends),
        known_(known),
        room_{samples.limit.value_or(0), samples.limit_used.last()} {}

  void process() {
    // Kernels before 4.5 do not tell what is kept.
    const auto& known = samples_.kept.peak() != 0 ? samples_.kept : samples_.resident;
    add({verdicts::subject_kind::host, 0, {}}, known, negligible_growth, room_);
  }

  void workers() {
    if (samples_.workers.peak() == 0) return;
    const verdicts::subject about{verdicts::subject_kind::host, 0, "workers"};
    const auto before = made_.size();
    add(about, samples_.workers_proportional, negligible_growth, room_);
    if (made_.size() > before && made_.back().found.shape != growth::shape::unknown) return;
    // Their resident memory is known more often, though not how much of it is shared: it can show
    // that they grow, and not that they do not.
    add(about, samples_.workers_kept, negligible_growth, room_);
    const bool grows = made_.size() > before && is_leak(made_.back().found.shape);
    if (made_.size() == before + 2) made_.erase(made_.end() - (grows ? 2 : 1));
  }

  void pinned(std::span<const replay::pinned_change> changes) {
    if (changes.empty()) return;
    const auto series = as_samples(changes);
    const auto ends = grid_of_ends(step_ends_);
    auto& found = made_.emplace_back(
        judge_series({{verdicts::subject_kind::host, 0, "pinned"}, series, page, room_}, ends));
    let_buffers_settle(found, at_points(series, ends));
    if (is_leak(found.found.shape)) found.suspects = suspects_of(changes, step_ends_, found);
  }

  void outside() {
    // Where others got or gave back, what is beside our pool is theirs as well as ours.
    for (const auto& [device, of_all] : samples_.outside) {
      const auto own = samples_.own_outside.find(device);
      const bool is_ours = !samples_.shared.contains(device) || own == samples_.own_outside.end();
      const auto& series = is_ours ? of_all : own->second;
      add({verdicts::subject_kind::outside, device, {}}, series, device_granularity, {});
    }
    const auto ends = grid_of_ends(step_ends_);
    for (const auto& [whose, series] : samples_.by_owner) {
      if (series.peak() < device_granularity || !ends.has_steps) continue;
      const verdicts::subject about{verdicts::subject_kind::outside, whose.first, whose.second};
      made_.push_back(judge_series({about, series.samples(), device_granularity, {}}, ends));
    }
  }

  [[nodiscard]] std::vector<verdicts::verdict> finish() {
    for (auto& one : made_) {
      leave_open_before_steps(one, step_ends_.size());
      leave_open_in_a_sequence(one, step_ends_.size(), known_.positions);
      describe(one, samples_, step_ends_);
      if (known_.by_loop) leave_open_in_a_loop(one);
      if (!known_.piles_up) leave_open_what_is_free(one);
    }
    return std::move(made_);
  }

 private:
  void add(const verdicts::subject& about, const sampled_series& from, std::uint64_t negligible,
           const room_left& room) {
    if (from.peak() == 0) return;
    const bool of_malloc = about.kind == verdicts::subject_kind::host;
    made_.push_back(judge_series({about, from.samples(), negligible, room, of_malloc},
                                 grid_for(from.samples(), step_ends_)));
  }

  const host_samples& samples_;
  std::span<const std::uint64_t> step_ends_;
  known_steps known_;
  room_left room_;
  std::vector<verdicts::verdict> made_;
};

}  // namespace

std::vector<verdicts::verdict> judge_host(const host_samples& samples,
                                          std::span<const replay::pinned_change> pinned,
                                          std::span<const std::uint64_t> step_ends,
                                          const known_steps& known) {
  host_judge judge(samples, step_ends, known);
  judge.process();
  judge.workers();
  judge.pinned(pinned);
  judge.outside();
  return judge.finish();
}

}  // namespace memtrace::host
