// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/culprits.h"

#include <algorithm>

namespace memtrace::verdicts {

namespace {

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

// One block that grows (torch.cat) has one birth step at any time; so has memory that streams.
// The former rises in most steps, or by jumps that keep coming, and hardly ever falls.
[[nodiscard]] bool is_one_that_grows(const growth::series& values, const growth::verdict& found) {
  const auto moved = movements_of(values);
  if (moved.down > moved.up / 10) return false;
  constexpr std::size_t regular_jumps = 4;
  return moved.rises >= moved.steps / 2 ||
         (found.shape == growth::shape::stepwise && found.evidence.jumps >= regular_jumps);
}

[[nodiscard]] bool generations_grow(const site_lives& lives, std::uint64_t steps) {
  return lives.births_stayed > std::max<std::uint64_t>(lives.births_by_half_of(steps), 2);
}

[[nodiscard]] culprit describe(std::uint32_t site, const site_lives& lives, std::uint64_t bytes,
                               growth::verdict found) {
  culprit made;
  made.site = site;
  const auto kind = lives.main_kind();
  made.stack = kind.stack;
  made.forward = kind.forward;
  made.what = kind.what;
  made.born_in = kind.born_in;
  made.bytes_per_step = found.bytes_per_step;
  made.bytes = bytes;
  made.blocks = lives.blocks_stayed;
  made.birth_steps = lives.births_stayed;
  made.found = std::move(found);
  return made;
}

// Optimizers make their states where memory grows for other reasons, too.
[[nodiscard]] bool ranks_before(const culprit& a, const culprit& b) {
  const bool a_state = a.what == attribution::category::optimizer_states;
  const bool b_state = b.what == attribution::category::optimizer_states;
  if (a_state != b_state) return b_state;
  return a.bytes_per_step > b.bytes_per_step;
}

}  // namespace

growing_sites find_growing(const site_book& book, const device_lives& device,
                           const growth::context& about) {
  growing_sites found;
  double largest = 0;
  for (const auto site : book.sites()) {
    const auto& page = *book.series(site);
    const auto values = page.first(book.steps());
    auto verdict = growth::judge(values, about);
    const auto& lives = device.at(site);
    if (is_leak(verdict.shape) &&
        (generations_grow(lives, book.steps()) || is_one_that_grows(values, verdict))) {
      found.bytes_per_step += verdict.bytes_per_step;
      found.all.push_back(describe(site, lives, page.latest(), std::move(verdict)));
      continue;
    }
    const auto grown = static_cast<double>(page.latest()) - values.first_bytes();
    if (grown <= largest || is_leak(verdict.shape)) continue;
    largest = grown;
    found.largest_otherwise = verdict.shape;
  }
  for (auto& one : found.all) one.share = one.bytes_per_step / found.bytes_per_step;
  std::ranges::stable_sort(found.all, ranks_before);
  return found;
}

std::vector<culprit> suspects_of(const growing_sites& sites) {
  std::vector<culprit> suspects;
  double explained = 0;
  for (const auto& one : sites.all) {
    const bool falls_off = !suspects.empty() && explained >= 0.5 &&
                           2 * one.bytes_per_step < suspects.back().bytes_per_step;
    if (explained >= 0.8 || falls_off || suspects.size() == most_suspects) break;
    suspects.push_back(one);
    explained += one.share;
  }
  return suspects;
}

}  // namespace memtrace::verdicts
