// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/period_search.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace memtrace::attribution {

namespace {

using place = std::uint64_t;  // kind << 32 | number

constexpr std::uint64_t least_entries = 4;  // three whole intervals
constexpr double least_coverage = 0.5;      // of the allocations, between first and last entry
constexpr double least_explained = 0.6;
// A finer period is preferred while it explains nearly as much as the best. Where modules run it
// may explain less: layers are no candidates there, and evaluations make steps uneven.
constexpr double margin_with_modules = 0.2;
constexpr double margin = 0.05;
// Steps give memory back; loading a model layer by layer does not.
constexpr double least_frees = 0.25;  // an allocation
constexpr std::size_t most_scored = 64;
// No real window comes near; a damaged trace's deep stacks would.
constexpr std::uint64_t most_entered = 1u << 27;  // places, in a window
constexpr std::size_t most_places = 1u << 21;

[[nodiscard]] place place_of(period_anchor::kind by, std::uint32_t number) {
  return static_cast<place>(by) << 32 | number;
}

// How alike a number of intervals are, as bags of tokens: their weighted Jaccard similarity with
// the median interval, Σ min(count, median) / Σ max(count, median) over intervals and tokens.
class interval_bags {
 public:
  explicit interval_bags(std::size_t tokens) : now_(tokens), counts_(tokens) {}

  void add(std::uint32_t token) {
    if (now_[token]++ == 0) touched_.push_back(token);
  }
  void close();  // the next token is the first of the next interval
  [[nodiscard]] double explained_by_median();

 private:
  std::vector<std::uint32_t> now_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::vector<std::uint32_t>> counts_;  // by token, of the intervals that have it
  std::size_t intervals_ = 0;
};

void interval_bags::close() {
  for (const auto token : touched_) {
    counts_[token].push_back(now_[token]);
    now_[token] = 0;
  }
  touched_.clear();
  ++intervals_;
}

double interval_bags::explained_by_median() {
  double common = 0;
  double all = 0;
  for (auto& counts : counts_) {
    if (counts.empty()) continue;
    const auto absent = intervals_ - counts.size();
    const auto middle = intervals_ / 2;
    std::uint32_t median = 0;
    if (middle >= absent) {
      const auto at = counts.begin() + static_cast<std::ptrdiff_t>(middle - absent);
      std::nth_element(counts.begin(), at, counts.end());
      median = *at;
    }
    all += static_cast<double>(median) * static_cast<double>(absent);
    for (const auto count : counts) {
      common += std::min(count, median);
      all += std::max(count, median);
    }
  }
  return all == 0 ? 0 : common / all;
}

// Most lengths are within a half of their median; those of a place that comes at random are not.
[[nodiscard]] bool are_regular(std::vector<std::size_t> lengths) {
  if (lengths.empty()) return false;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  const auto median = *middle;
  const auto near = static_cast<std::size_t>(std::ranges::count_if(
      lengths, [&](std::size_t one) { return one * 2 >= median && one * 2 <= median * 3; }));
  // 35 % of exponentially distributed lengths are, and 75 % of lengths spread evenly over 10…50.
  return near * 20 >= lengths.size() * 11;
}

struct candidate {
  place where = 0;
  std::uint64_t entries = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  double live = 0;  // sum over its entries
  bool in_module = false;
};

// Calls back for every place that an allocation enters, in order.
class walker {
 public:
  explicit walker(const trace::dictionary& names) : names_(names) {}

  template <class Function>
  void step(const period_item& item, Function&& entered) {
    using kind = period_anchor::kind;
    if (!item.stack) {
      if (item.size_number != 0 && item.size_number != last_size_) {
        entered(place_of(kind::size, item.size_number));
      }
      last_size_ = item.size_number;
      return;
    }
    if (item.thread.value >= latest_.size()) latest_.resize(item.thread.value + std::size_t{1});
    auto& previous = latest_[item.thread.value];
    if (previous == item.stack) return;
    auto from = previous;
    auto to = item.stack;
    entered(place_of(kind::stack, to.value));
    while (from != to) {
      if (names_[to].depth >= names_[from].depth) {
        entered(place_of(kind::frame, to.value));
        to = names_[to].parent;
      } else {
        from = names_[from].parent;
      }
    }
    previous = item.stack;
  }

 private:
  const trace::dictionary& names_;
  std::vector<trace::stack_id> latest_;  // by thread
  std::uint32_t last_size_ = 0;
};

// Whether a stack runs inside the call of an nn.Module.
class module_frames {
 public:
  explicit module_frames(const trace::dictionary& names) : names_(names) {}

  [[nodiscard]] bool contain(trace::stack_id stack) {
    std::vector<trace::stack_id> asked;
    bool found = false;
    for (; stack && !found; stack = names_[stack].parent) {
      if (const auto known = known_.find(stack.value); known != known_.end()) {
        found = known->second;
        break;
      }
      asked.push_back(stack);
      found = is_call(names_[names_[stack].innermost]);
    }
    // Those below a stack that is inside are inside too; it was the last one asked.
    for (const auto one : asked) known_.emplace(one.value, found);
    return found;
  }

 private:
  [[nodiscard]] bool is_call(const trace::frame& frame) const {
    return names_[frame.file].ends_with("torch/nn/modules/module.py") &&
           names_[frame.function].ends_with("_call_impl");
  }

  const trace::dictionary& names_;
  std::unordered_map<std::uint32_t, bool> known_;
};

class search {
 public:
  search(const trace::dictionary& names, std::span<const period_item> items)
      : names_(names), items_(items) {
    // Allocations before the first forward need not be part of any step.
    const auto forward = std::ranges::find_if(items, &period_item::in_module);
    has_modules_ = forward != items.end();
    if (has_modules_) begin_ = static_cast<std::size_t>(forward - items.begin());
    for (const auto& item : items) tokens_ = std::max(tokens_, item.token + std::size_t{1});
  }

  [[nodiscard]] std::optional<period_anchor> run() {
    auto candidates = eligible();
    for (const bool inside : {false, true}) {
      if (const auto found = best_of(candidates, inside)) return found;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::vector<candidate> eligible();
  [[nodiscard]] std::optional<period_anchor> best_of(const std::vector<candidate>& candidates,
                                                     bool inside);
  [[nodiscard]] double score(const std::vector<std::size_t>& entries) const;

  const trace::dictionary& names_;
  std::span<const period_item> items_;
  std::size_t begin_ = 0;
  std::size_t tokens_ = 0;
  bool has_modules_ = false;
};

std::vector<candidate> search::eligible() {
  std::unordered_map<place, candidate> all;
  std::uint64_t entered = 0;
  walker walk(names_);
  for (std::size_t at = 0; at < items_.size(); ++at) {
    if (entered > most_entered || all.size() > most_places) return {};
    walk.step(items_[at], [&](place where) {
      ++entered;
      auto& seen = all[where];
      if (seen.entries++ == 0) seen.first = at;
      seen.last = at;
      seen.live += static_cast<double>(items_[at].live);
    });
  }
  std::vector<candidate> found;
  module_frames modules(names_);
  const auto total = static_cast<double>(items_.size() - begin_);
  for (auto& [where, seen] : all) {
    if (seen.entries < least_entries || seen.last <= begin_) continue;
    const auto span = static_cast<double>(seen.last - seen.first);
    const auto covered = static_cast<double>(seen.last - std::max(seen.first, begin_)) +
                         span / static_cast<double>(seen.entries - 1);  // the last interval too
    if (covered < least_coverage * total) continue;
    const auto frees = items_[seen.last].frees - items_[seen.first].frees;
    if (static_cast<double>(frees) < least_frees * span) continue;
    seen.where = where;
    const bool is_size = where >> 32 == static_cast<place>(period_anchor::kind::size);
    seen.in_module =
        !is_size && modules.contain(trace::stack_id{static_cast<std::uint32_t>(where)});
    found.push_back(seen);
  }
  return found;
}

// Among the places that are entered equally often, the one where least memory is held: between two
// steps.
[[nodiscard]] std::map<std::uint64_t, candidate> one_for_each_count(
    const std::vector<candidate>& candidates, bool inside) {
  std::map<std::uint64_t, candidate> chosen;
  for (const auto& one : candidates) {
    if (one.in_module != inside) continue;
    const auto [at, is_new] = chosen.emplace(one.entries, one);
    const auto rank = [](const candidate& of) { return std::tuple(of.live, of.first, of.where); };
    if (!is_new && rank(one) < rank(at->second)) at->second = one;
  }
  return chosen;
}

std::optional<period_anchor> search::best_of(const std::vector<candidate>& candidates,
                                             bool inside) {
  const auto chosen = one_for_each_count(candidates, inside);
  std::unordered_map<place, std::vector<std::size_t>> entries;
  for (const auto& [count, one] : chosen) {
    if (entries.size() < most_scored) entries[one.where].reserve(count);
  }
  walker walk(names_);
  for (std::size_t at = 0; at < items_.size(); ++at) {
    walk.step(items_[at], [&](place where) {
      if (const auto known = entries.find(where); known != entries.end()) {
        known->second.push_back(at);
      }
    });
  }
  std::vector<period_anchor> scored;  // fewest entries first
  double best = 0;
  for (const auto& [count, one] : chosen) {
    const auto known = entries.find(one.where);
    if (known == entries.end()) continue;
    const auto explained = score(known->second);
    best = std::max(best, explained);
    scored.push_back({static_cast<period_anchor::kind>(one.where >> 32),
                      static_cast<std::uint32_t>(one.where), count, explained});
  }
  if (best < least_explained) return std::nullopt;
  const auto allowed = has_modules_ && !inside ? margin_with_modules : margin;
  const auto finest = std::find_if(scored.rbegin(), scored.rend(), [&](const period_anchor& one) {
    return one.explained >= std::max(least_explained, best - allowed);
  });
  return *finest;
}

double search::score(const std::vector<std::size_t>& entries) const {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 1; i < entries.size(); ++i) lengths.push_back(entries[i] - entries[i - 1]);
  if (!are_regular(lengths)) return 0;
  if (has_modules_) {  // then a step runs one
    std::size_t with = 0;
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const auto interval = items_.subspan(entries[i - 1], lengths[i - 1]);
      with += std::ranges::any_of(interval, &period_item::in_module) ? 1u : 0u;
    }
    if (with * 10 < lengths.size() * 9) return 0;
  }
  interval_bags bags(tokens_);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    for (auto at = entries[i - 1]; at < entries[i]; ++at) bags.add(items_[at].token);
    bags.close();
  }
  return bags.explained_by_median();
}

}  // namespace

std::optional<period_anchor> find_period(const trace::dictionary& names,
                                         std::span<const period_item> items) {
  if (items.size() < least_entries) return std::nullopt;
  return search(names, items).run();
}

bool anchor_test::enters(const period_item& item) {
  using kind = period_anchor::kind;
  const bool by_size = anchor_.by == kind::size;
  if (by_size == static_cast<bool>(item.stack)) return false;
  bool now = false;
  if (anchor_.by == kind::frame) {
    now = is_below(item.stack);
  } else {
    now = anchor_.number == (by_size ? item.size_number : item.stack.value);
  }
  const auto thread = by_size ? 0 : item.thread.value;
  if (thread >= inside_.size()) inside_.resize(thread + std::size_t{1});
  return std::exchange(inside_[thread], static_cast<std::uint8_t>(now)) == 0 && now;
}

bool anchor_test::is_below(trace::stack_id stack) {
  if (stack.value >= below_.size()) below_.resize(stack.value + std::size_t{1});
  if (below_[stack.value] == 0) {
    auto at = stack;
    const auto depth = (*names_)[trace::stack_id{anchor_.number}].depth;
    while (at && (*names_)[at].depth > depth) at = (*names_)[at].parent;
    below_[stack.value] = at.value == anchor_.number ? 2 : 1;
  }
  return below_[stack.value] == 2;
}

}  // namespace memtrace::attribution
