// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/suspects.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

using window_list = std::vector<growth::window>;

struct range {
  double low = 0;
  double high = 0;
};

// The range of the peaks from `from` to before `to`.
[[nodiscard]] range peaks_of(const window_list& peak, std::size_t from, std::size_t to) {
  range found{peak[from].top, peak[from].top};
  for (auto i = from + 1; i < to; ++i) {
    found.low = std::min(found.low, peak[i].top);
    found.high = std::max(found.high, peak[i].top);
  }
  return found;
}

[[nodiscard]] double least_of(const window_list& least, std::size_t from, std::size_t to) {
  double found = least[from].floor;
  for (auto i = from + 1; i < to; ++i) found = std::min<double>(found, least[i].floor);
  return found;
}

}  // namespace

void step_inputs::add(const site_history& site, bool grows) {
  constexpr std::uint64_t most_births = 2;  // alive at once: this step's and the one before's
  if (site.births_stayed == 0 || site.births_stayed > most_births) return;
  const auto kind = site.main_kind();
  const bool comes_anew = kind.streamed_byte_steps > 0;
  if (kind.what != attribution::category::inputs || !comes_anew) return;
  (grows ? growing_ : same_) += site.series.latest();
}

bool work_grows(const device_series& whole, const step_inputs& inputs,
                const std::vector<suspect>& single, const growth::context& about) {
  if (single.empty() || !inputs.grow()) return false;
  const auto peak = growth::judge(whole.peak.values, about);
  const auto least = growth::judge(whole.least.values, about);
  double rates = 0;
  for (const auto& one : single) rates += one.bytes_per_step;
  return peak.bytes_per_step - least.bytes_per_step > 2 * rates;
}

// The least of a step shows what the one before has made: the peak is a step earlier.
bool made_for_new_sizes(const growth::series& site, const growth::series& peak,
                        const growth::series& least) {
  constexpr std::size_t fewest_rises = 3;
  constexpr std::size_t shortest = 3;  // steps of one size
  const auto& held = site.windows();
  const auto& used = peak.windows();
  const auto& stays = least.windows();
  if (site.width() != peak.width() || held.size() != used.size()) return false;
  if (site.width() != least.width() || held.size() != stays.size()) return false;
  std::vector<std::size_t> rises;
  for (std::size_t i = 1; i < held.size(); ++i) {
    if (held[i].floor > held[i - 1].floor) rises.push_back(i);
  }
  if (rises.size() < fewest_rises) return false;
  auto before = rises.front() < 2 ? range{} : peaks_of(used, 0, rises.front() - 1);
  double least_before = rises.front() < 2 ? 0 : least_of(stays, 0, rises.front() - 1);
  for (std::size_t k = 0; k < rises.size(); ++k) {
    const bool is_last = k + 1 == rises.size();
    const auto end = is_last ? held.size() : rises[k + 1] - 1;
    if (end < rises[k] + shortest - 1) return false;
    const auto now = peaks_of(used, rises[k], end);
    const double made = held[rises[k]].floor - held[rises[k] - 1].floor;
    const double larger = now.low - before.low;
    const double stayed = least_of(stays, rises[k], end) - least_before;
    if (larger - stayed < made || now.high - now.low > larger / 2) return false;
    before = now;
    least_before += stayed;
  }
  return true;
}

namespace {

[[nodiscard]] double change(const window_list& all, std::size_t at) {
  return all[at].floor - all[at - 1].floor;
}

[[nodiscard]] bool falls_beside(const window_list& falling, std::size_t at, double bytes) {
  constexpr double as_much = 0.9;
  const auto to = std::min(at + 1, falling.size() - 1);
  for (auto i = std::max<std::size_t>(at, 2) - 1; i <= to; ++i) {
    if (-change(falling, i) >= as_much * bytes) return true;
  }
  return false;
}

// Memory that one call site takes over from another: in the second epoch each entry of a table is
// replaced by a new one, which another line makes. The line grows, and memory does not. Whether
// nearly each time that `growing` rose `other` fell by as much, in the same step or one beside it.
[[nodiscard]] bool replaces(const growth::series& growing, const growth::series& other) {
  constexpr std::size_t fewest_rises = 3;
  constexpr double nearly_all = 0.8;
  constexpr double hardly = 0.1;
  const auto& rising = growing.windows();
  const auto& falling = other.windows();
  if (growing.width() != other.width() || rising.size() != falling.size()) return false;
  std::size_t rises = 0;
  std::size_t matched = 0;
  double risen = 0;
  double fallen = 0;  // of the other, since the first rise
  double refilled = 0;
  for (std::size_t i = 1; i < rising.size(); ++i) {
    const auto up = std::max(0.0, change(rising, i));
    if (up > 0) {
      ++rises;
      matched += falls_beside(falling, i, up);
      risen += up;
    }
    if (rises == 0) continue;
    fallen += std::max(0.0, -change(falling, i));
    refilled += std::max(0.0, change(falling, i));
  }
  // A series that varies from step to step falls beside anything: it refills.
  return rises >= fewest_rises && fallen >= nearly_all * risen && refilled <= hardly * fallen &&
         static_cast<double>(matched) >= nearly_all * static_cast<double>(rises);
}

constexpr std::size_t most_suspects = 10;

struct movements {
  double up = 0;
  double down = 0;
  double rises = 0;
  double steps = 0;
};

[[nodiscard]] movements movements_of(const growth::series& values) {
  movements sum;
  for (const auto& window : values.windows()) {
    sum.up += window.up;
    sum.down += window.down;
    sum.rises += window.rises;
    sum.steps += window.steps;
  }
  return sum;
}

// It rose again and again and no longer does: batches that got larger until they were large enough,
// a pool that is full.
// `latest`: the last step's, which no window has.
[[nodiscard]] bool stands_still(const growth::series& values, double latest) {
  constexpr std::size_t fewest_rises = 5;
  constexpr std::size_t shortest = 2;
  const auto& windows = values.windows();
  std::size_t rises = 0;
  std::size_t last = 0;
  std::size_t longest = 1;  // wait between two rises
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].floor <= windows[i - 1].floor) continue;
    if (rises++ != 0) longest = std::max(longest, i - last);
    last = i;
  }
  if (rises < fewest_rises || latest > windows.back().floor) return false;
  return windows.size() - last >= std::max(shortest, 3 * longest - 1);
}

// One block that grows (torch.cat) has one generation at any time; so has memory that streams.
// The former rises in most steps, or by jumps that keep coming, and hardly ever falls.
[[nodiscard]] bool is_one_that_grows(const growth::series& values, const growth::judgement& found) {
  const auto moved = movements_of(values);
  if (moved.down > moved.up / 10) return false;
  constexpr std::size_t regular_jumps = 4;
  constexpr double smallest_rise = 1024;  // two of the allocator's blocks: it is just slow
  return moved.rises >= moved.steps / 2 || moved.up <= smallest_rise * moved.rises ||
         (found.shape == growth::shape::stepwise && found.evidence.jumps >= regular_jumps);
}

// Blocks of ever more steps are alive; of jumps that stay, each is made of blocks of its own. A
// pool of threads has blocks of as many steps as it has threads, now of large requests, now of
// small ones.
[[nodiscard]] bool generations_grow(const site_history& page, const growth::judgement& found,
                                    std::uint64_t steps) {
  const bool by_jumps = found.shape == growth::shape::stepwise;
  return page.births_stayed > std::max<std::uint64_t>(page.births_by_half_of(steps), 2) &&
         (!by_jumps || page.births_stayed >= found.evidence.jumps);
}

[[nodiscard]] suspect describe(const site_history& page, growth::judgement found,
                               std::uint64_t steps) {
  suspect made;
  made.site = page.site;
  const auto kind = page.main_kind();
  made.stack = kind.stack;
  made.forward = kind.forward;
  made.what = kind.what;
  made.born_in = kind.born_in;
  made.captured = kind.captured;
  made.bytes_per_step = found.bytes_per_step;
  made.bytes = page.series.latest();
  made.blocks = page.stayed.blocks;
  made.at_even_distances = page.births.at_even_distances(steps);
  made.is_overdue = page.births.is_overdue(steps);
  made.by_more_blocks = page.grew_by_blocks(steps);
  made.generations = page.births_stayed;
  made.found = std::move(found);
  return made;
}

// From the lowest to the highest step.
[[nodiscard]] double rise_of(const growth::series& values) {
  double floor = 0;
  double top = 0;
  bool first = true;
  for (const auto& window : values.windows()) {
    floor = first ? window.floor : std::min(floor, window.floor);
    top = first ? window.top : std::max(top, window.top);
    first = false;
  }
  return top - floor;
}

// Another site gives back what this one takes.
[[nodiscard]] bool replaces_another(const growth::series& values, const site_history& page,
                                    const device_timeline& device) {
  return std::ranges::any_of(device.sites.pages(), [&](const site_history& other) {
    return other.site != page.site && replaces(values, other.series.first(device.sites.steps()));
  });
}

// Puts last what is there because something else grows: optimizers' states, and gradients of
// weights that grow, which the backward pass makes where no line of the user's is.
class rank_of {
 public:
  explicit rank_of(const std::vector<suspect>& all)
      : weights_grow_(std::ranges::any_of(
            all, [](const suspect& one) { return one.what == attribution::category::weights; })) {}
  [[nodiscard]] bool operator()(const suspect& a, const suspect& b) const {
    return std::pair(order(a), b.bytes_per_step) < std::pair(order(b), a.bytes_per_step);
  }

 private:
  [[nodiscard]] int order(const suspect& one) const {
    if (one.what == attribution::category::optimizer_states) return 2;
    return weights_grow_ && one.what == attribution::category::gradients ? 1 : 0;
  }
  bool weights_grow_;
};

}  // namespace

growing_sites find_growing(std::uint32_t index, const device_timeline& device,
                           const growth::context& about) {
  growing_sites found;
  std::vector<suspect> single;  // whose one block grows
  step_inputs inputs;
  double largest = 0;
  const auto steps = device.sites.steps();
  for (const auto& page : device.sites.pages()) {
    const auto values = page.series.first(steps);
    auto verdict = growth::judge(values, about);
    inputs.add(page, is_leak(verdict.shape));
    if (is_leak(verdict.shape) && replaces_another(values, page, device)) {
      verdict.shape = growth::shape::warmup_plateau;
    }
    if (is_leak(verdict.shape)) {
      if (stands_still(values, static_cast<double>(page.series.latest()))) continue;
      if (generations_grow(page, verdict, steps)) {
        found.all.push_back(describe(page, std::move(verdict), steps));
        found.all.back().for_new_sizes =
            made_for_new_sizes(values, device.whole.peak.values, device.whole.least.values);
      } else if (is_one_that_grows(values, verdict)) {
        single.push_back(describe(page, std::move(verdict), steps));
        single.back().for_new_sizes =
            made_for_new_sizes(values, device.whole.peak.values, device.whole.least.values);
      }
      continue;
    }
    const auto grown = static_cast<double>(page.series.latest()) - values.first_bytes();
    if (verdict.shape == growth::shape::sawtooth) {
      found.bounded_growth.push_back(describe(page, verdict, steps));
      found.bounded_growth.back().share = rise_of(values);
    }
    if (grown <= largest) continue;
    largest = grown;
    found.largest_otherwise = verdict.shape;
  }
  found.work_grows = work_grows(device.whole, inputs, single, about);
  if (!found.work_grows) std::ranges::move(single, std::back_inserter(found.all));
  for (const auto& one : found.all) found.bytes_per_step += one.bytes_per_step;
  for (auto& one : found.all) {
    one.device = index;
    one.share = one.bytes_per_step / found.bytes_per_step;
  }
  std::ranges::stable_sort(found.all, rank_of(found.all));
  // What fills by a few bytes beside what fills the device is not what fills it.
  constexpr double least_share = 0.1;
  double rises = 0;
  for (const auto& one : found.bounded_growth) rises += one.share;
  rises = std::max(rises, rise_of(device.whole.least.values));
  for (auto& one : found.bounded_growth) {
    one.device = index;
    one.share /= rises;
  }
  std::erase_if(found.bounded_growth, [](const suspect& one) { return one.share < least_share; });
  std::ranges::stable_sort(found.bounded_growth, std::greater(), &suspect::share);
  return found;
}

namespace {

// The innermost function outside of a call of a model that both stacks are in, at the same line, where they
// come from other lines; empty: there is none.
[[nodiscard]] std::string common_function(const std::vector<code::source_frame>& one,
                                          const std::vector<code::source_frame>& other) {
  const auto around_model = [](const std::vector<code::source_frame>& frames) {
    const auto last = std::find_if(frames.rbegin(), frames.rend(), [](const auto& frame) {
      return frame.file.ends_with("torch/nn/modules/module.py");
    });
    return std::span(last.base(), frames.end());
  };
  const auto left = around_model(one);
  const auto right = around_model(other);
  const auto [at, beside] = std::ranges::mismatch(left, right);
  if (at == left.begin() || at == left.end() || beside == right.end()) return {};
  const bool returns_to_same = at->file == beside->file && at->line == beside->line;
  return returns_to_same ? std::string() : std::prev(at)->function;
}

// Where a site has given most back, and in how many windows it had grown before.
struct given_back {
  const site_history* page = nullptr;
  double bytes = 0;
  std::size_t at = 0;  // window
  std::size_t rises = 0;
};

[[nodiscard]] std::vector<given_back> given_back_by_sites(const device_timeline& device) {
  std::vector<given_back> found;
  for (const site_history& page : device.sites.pages()) {
    const auto values = page.series.first(device.sites.steps());
    given_back one;
    one.page = &page;
    std::size_t rises = 0;
    for (std::size_t i = 0; i < values.windows().size(); ++i) {
      const auto& window = values.windows()[i];
      if (window.largest_fall > one.bytes) {
        one.bytes = window.largest_fall;
        one.at = i;
        one.rises = rises;
      }
      rises += window.up > 0 ? 1 : 0;
    }
    if (one.rises > 0) found.push_back(one);
  }
  return found;
}

// Whether it began to grow after the other one gave back, to no more than that, and by as many rises as the other
// one had before: what streams is given back, too, and piles up nothing.
[[nodiscard]] bool grows_since(const growth::series& values, const given_back& other) {
  const auto& windows = values.windows();
  double before = 0;
  double since = 0;
  std::size_t rises = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    (i < other.at ? before : since) += windows[i].up - windows[i].down;
    rises += windows[i].up > 0 ? 1 : 0;
  }
  constexpr double tenth = 0.1;
  return since > 0 && before <= tenth * since && since <= (1 + tenth) * other.bytes &&
         2 * other.rises >= rises;
}

}  // namespace

void note_given_back(growing_sites& found, const device_timeline& device,
                     const trace::dictionary& names) {
  if (found.all.empty()) return;
  const auto others = given_back_by_sites(device);
  for (auto& who : found.all) {
    const auto own = std::ranges::find_if(
        device.sites.pages(), [&](const site_history& page) { return page.site == who.site; });
    if (own == device.sites.pages().end()) continue;
    const auto values = own->series.first(device.sites.steps());
    const auto frames = code::frames_of(names, who.stack);
    for (const auto& other : others) {
      if (other.page->site == who.site || !grows_since(values, other)) continue;
      who.given_back_by =
          common_function(frames, code::frames_of(names, other.page->main_kind().stack));
      if (!who.given_back_by.empty()) break;
    }
  }
}

std::vector<suspect> suspects_of(const std::vector<suspect>& sites) {
  std::vector<suspect> suspects;
  double explained = 0;
  for (const auto& one : sites) {
    const bool falls_off =
        !suspects.empty() && explained >= 0.5 && 2 * one.share < suspects.back().share;
    if (explained >= 0.8 || falls_off || suspects.size() == most_suspects) break;
    suspects.push_back(one);
    explained += one.share;
  }
  return suspects;
}

}  // namespace memtrace::verdicts
