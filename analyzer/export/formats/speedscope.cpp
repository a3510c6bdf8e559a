// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/base/text/units.h"
#include "analyzer/export/formats/held_blocks.h"
#include "analyzer/export/formats/told_stack.h"

namespace memtrace::exporting {

namespace {

using attribution::category;

// The most that a profile has. JavaScript's strings end at 512 MiB, and a whole file is one of
// them.
constexpr std::size_t most_stacks = 20'000;

class speedscope final : public sink {
 public:
  speedscope(destination& to, const options& wanted)
      : to_(to),
        version_(wanted.version),
        most_(wanted.top == 0 ? most_stacks : wanted.top),
        held_([this](const moment& at, const std::vector<block>& blocks) { reached(at, blocks); }) {
  }

  void begin(const process& from) override {
    from_ = &from;
    wanted_.clear();
    for (const auto& device : from.report.devices) {
      const auto index = device.facts.device;
      if (device.at_peak.total != 0) want(index, device.at_peak.event, "peak");
      if (from.at) want(index, *from.at, fmt::format("event {}", *from.at));
    }
  }
  void carried(const block& one) override { held_.carried(one); }
  void happened(const allocator_event& event, const block* one, const moment& now) override {
    held_.happened(event, one, now);
  }
  void became(const block& one, category, const moment& now) override { held_.became(one, now); }
  void end(const process&, const std::vector<moment>&) override { held_.end(); }

  [[nodiscard]] std::optional<std::string> finish() override {
    const nlohmann::ordered_json document = {
        {"$schema", "https://www.speedscope.app/file-format-schema.json"},
        {"name", name_},
        {"exporter", "memtrace " + version_},
        {"activeProfileIndex", 0},
        {"shared", {{"frames", std::move(frames_)}}},
        {"profiles", std::move(profiles_)},
    };
    to_.write(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return std::nullopt;
  }

 private:
  using key = std::pair<category, stack_key>;

  void want(std::uint32_t device, std::uint64_t event, std::string words) {
    held_.watch(device, event);
    wanted_[{device, event}] = std::move(words);
  }

  void reached(const moment& at, const std::vector<block>& blocks) {
    std::map<key, std::uint64_t> sums;
    std::uint64_t recorded = 0;
    for (const auto& one : blocks) {
      sums[{one.what, stack_of(one)}] += one.bytes;
      recorded += one.bytes;
    }
    std::vector<std::pair<key, std::uint64_t>> rows(sums.begin(), sums.end());
    std::ranges::stable_sort(rows, std::greater(), &std::pair<key, std::uint64_t>::second);
    auto samples = nlohmann::ordered_json::array();
    auto weights = nlohmann::ordered_json::array();
    std::map<category, std::pair<std::uint64_t, std::uint64_t>> others;  // stacks, bytes
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [which, bytes] = rows[i];
      if (i >= most_) {
        auto& sum = others[which.first];
        ++sum.first;
        sum.second += bytes;
        continue;
      }
      samples.push_back(numbers_of(which));
      weights.push_back(bytes);
    }
    for (const auto& [what, sum] : others) {
      samples.push_back({number_of({words_of(what), {}, 0}),
                         number_of({fmt::format("{} smaller stacks", sum.first), {}, 0})});
      weights.push_back(sum.second);
    }
    if (at.allocated > recorded) {
      samples.push_back({number_of({"allocated before the recording, or lost", {}, 0})});
      weights.push_back(at.allocated - recorded);
    }
    const auto name = fmt::format("{}, cuda:{}, {} ({})", process_words(from_->report), at.device,
                                  wanted_[{at.device, at.event}], text::format_bytes(at.allocated));
    if (name_.empty()) name_ = name;
    profiles_.push_back({{"type", "sampled"},
                         {"name", name},
                         {"unit", "bytes"},
                         {"startValue", 0},
                         {"endValue", at.allocated},
                         {"samples", std::move(samples)},
                         {"weights", std::move(weights)}});
  }

  [[nodiscard]] nlohmann::ordered_json numbers_of(const key& which) {
    auto numbers = nlohmann::ordered_json::array();
    numbers.push_back(number_of({words_of(which.first), {}, 0}));
    for (const auto& frame : told_stack(*from_, which.second)) numbers.push_back(number_of(frame));
    return numbers;
  }

  [[nodiscard]] std::size_t number_of(const told_frame& frame) {
    const auto [known, is_new] = numbers_.try_emplace(frame, frames_.size());
    if (is_new) {
      nlohmann::ordered_json made = {{"name", frame.function}};
      if (!frame.file.empty()) {
        made["file"] = frame.file;
        if (frame.line != 0) made["line"] = frame.line;
      }
      frames_.push_back(std::move(made));
    }
    return known->second;
  }

  destination& to_;
  std::string version_;
  std::size_t most_;
  held_blocks held_;
  const process* from_ = nullptr;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> wanted_;  // by device and event
  std::string name_;
  std::map<told_frame, std::size_t> numbers_;
  nlohmann::ordered_json frames_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json profiles_ = nlohmann::ordered_json::array();
};

}  // namespace

std::unique_ptr<sink> make_speedscope(destination& to, const options& wanted) {
  return std::make_unique<speedscope>(to, wanted);
}

}  // namespace memtrace::exporting
