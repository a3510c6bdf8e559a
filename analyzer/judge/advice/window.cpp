// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "analyzer/base/text/units.h"

namespace memtrace::advice {

namespace {

using allocator::action;
using allocator::request;
using allocator::request_log;

struct range {
  std::size_t from = 0;
  std::size_t to = 0;
};

[[nodiscard]] bool ran_out(const blocks::evidence& of) {
  return std::any_of(of.replayed.ooms().begin(), of.replayed.ooms().end(),
                     [&](const auto& oom) { return oom.device == of.log.device && !oom.caught; });
}

[[nodiscard]] range choose(const blocks::evidence& of, std::size_t most) {
  const auto count = of.log.requests.size();
  const std::size_t peak = of.now.reserved.request;
  auto to = ran_out(of) ? count : std::min(count, peak + most / 4);
  const auto& ends = of.step_ends;
  auto end = std::upper_bound(ends.begin(), ends.end(), peak);
  if (end != ends.end() && end + 1 != ends.end() && !ran_out(of)) to = *(end + 1);
  to = std::max(to, std::min(count, most));
  if (to <= most) return {0, to};
  std::size_t from = to - most;
  // At the beginning of a step, where little is alive.
  const auto begin = std::lower_bound(ends.begin(), ends.end(), from);
  if (begin != ends.end() && *begin < peak) from = *begin;
  return {from, to};
}

// Blocks are numbered anew, as if the run had begun with what is alive where the window does.
class cutting {
 public:
  cutting(const blocks::evidence& of, range wanted) : of_(of), wanted_(wanted) {
    numbers_.assign(of.blocks.size(), blocks::never);
    log_ = std::make_unique<request_log>();
  }

  [[nodiscard]] std::unique_ptr<request_log> log() {
    const auto& from = of_.log;
    log_->device = from.device;
    log_->torch_version = from.torch_version;
    log_->settings_text = from.settings_text;
    log_->options = from.options;
    log_->total_bytes = from.total_bytes;
    log_->usable_bytes = from.usable_bytes;
    log_->streams = from.streams;
    log_->pools = from.pools;
    log_->texts = from.texts;
    log_->refused_events = from.refused_events;
    for (std::size_t i = 0; i < wanted_.from; ++i) add_earlier(i);
    for (std::size_t i = wanted_.from; i < wanted_.to; ++i) add(i);
    return std::move(log_);
  }
  [[nodiscard]] blocks::fact_list facts() && { return std::move(facts_); }

 private:
  [[nodiscard]] bool was_refused(allocator::block_number block) const {
    return block < of_.log.addresses.size() && of_.log.addresses[block] == 0;
  }
  // Takes from before only blocks that are still there, and changes of the allocator's state.
  void add_earlier(std::size_t index) {
    const auto& asked = of_.log.requests[index];
    switch (asked.what()) {
      case action::free:
      case action::complete:
      case action::empty_cache:
        return;
      case action::allocate: {
        if (asked.block >= of_.blocks.size() || was_refused(asked.block)) return;
        const auto freed = of_.blocks[asked.block].free_request;
        if (freed != blocks::never && freed < wanted_.from) return;
        add(index);
        return;
      }
      default:
        add(index);
    }
  }
  void add(std::size_t index) {
    auto asked = of_.log.requests[index];
    const bool of_block = asked.what() == action::allocate || asked.what() == action::free ||
                          asked.what() == action::complete;
    const auto at = static_cast<std::uint32_t>(log_->requests.size());
    if (of_block) {
      if (asked.block >= numbers_.size()) return;
      auto& number = numbers_[asked.block];
      if (asked.what() == action::allocate) {
        number = static_cast<std::uint32_t>(facts_.size());
        log_->allocations.push_back(at);
        log_->addresses.push_back(
            asked.block < of_.log.addresses.size() ? of_.log.addresses[asked.block] : 1);
        facts_.push_back(of_.blocks[asked.block]);
        facts_.set_free_request(number, blocks::never);
      }
      if (number == blocks::never) return;
      if (asked.what() == action::free) facts_.set_free_request(number, at);
      asked.block = number;
    }
    log_->requests.push_back(asked);
    log_->events.push_back(of_.log.events[index]);
  }

  const blocks::evidence& of_;
  range wanted_;
  std::unique_ptr<request_log> log_;
  std::vector<std::uint32_t> numbers_;  // new ones, by old ones
  blocks::fact_list facts_;
};

[[nodiscard]] std::vector<std::uint64_t> step_events(const blocks::evidence& of, range wanted) {
  std::vector<std::uint64_t> events;
  for (const auto request : of.step_ends) {
    if (request > wanted.from && request < wanted.to) events.push_back(of.log.events[request]);
  }
  return events;
}

[[nodiscard]] std::string words_for(const blocks::evidence& of, range wanted) {
  const auto whole = text::format_count(of.log.requests.size());
  const auto run = of.part.empty() ? "the run's " + whole + " requests" : of.part;
  if (wanted.from == 0) {
    return fmt::format("the first {} of {}", text::format_count(wanted.to), run);
  }
  return fmt::format("{} requests around the peak of {}",
                     text::format_count(wanted.to - wanted.from), run);
}

}  // namespace

std::optional<blocks::device_evidence> shorten(const blocks::evidence& of, std::size_t most) {
  if (of.log.requests.size() <= most) return std::nullopt;
  const auto wanted = choose(of, most);
  cutting cut(of, wanted);
  blocks::device_evidence made;
  made.log = cut.log();
  made.of = std::unique_ptr<blocks::evidence>(new blocks::evidence{of.names,
                                                                   of.replayed,
                                                                   of.attributed,
                                                                   of.host,
                                                                   of.findings,
                                                                   *made.log,
                                                                   std::move(cut).facts(),
                                                                   {},
                                                                   of.modules,
                                                                   {},
                                                                   words_for(of, wanted),
                                                                   of.keepings});
  blocks::count_steps(*made.of, step_events(of, wanted));
  made.of->now = allocator::replay(*made.log, allocator::as_recorded(*made.log));
  return made;
}

}  // namespace memtrace::advice
