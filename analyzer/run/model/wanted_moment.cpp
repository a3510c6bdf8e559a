// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/wanted_moment.h"

#include <string_view>

#include "analyzer/base/text/numbers.h"

namespace memtrace::run {

namespace {

[[nodiscard]] std::optional<attribution::phase> phase_named(std::string_view name) {
  for (std::size_t i = 0; i < attribution::phase_count; ++i) {
    if (name_of(static_cast<attribution::phase>(i)) == name)
      return static_cast<attribution::phase>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<wanted_moment> parse_moment(const std::string& text) {
  constexpr std::string_view event = "event:";
  constexpr std::string_view step = "step:";
  wanted_moment moment;
  std::string_view rest = text;
  if (rest.starts_with(event)) {
    moment.event = text::number_in(rest.substr(event.size()));
    return moment.event ? std::optional(moment) : std::nullopt;
  }
  if (!rest.starts_with(step)) return std::nullopt;
  rest.remove_prefix(step.size());
  if (const auto slash = rest.find('/'); slash != rest.npos) {
    moment.in = phase_named(rest.substr(slash + 1));
    if (!moment.in) return std::nullopt;
    rest = rest.substr(0, slash);
  }
  moment.step = text::number_in(rest);
  return moment.step ? std::optional(moment) : std::nullopt;
}

std::optional<std::uint64_t> event_of(const wanted_moment& moment,
                                      const attribution::result& found) {
  if (moment.event) return moment.event;
  std::optional<std::uint64_t> event;
  std::uint64_t highest = 0;
  for (const auto& [index, device] : found.devices) {
    if (!moment.step || *moment.step >= device.steps.steps.size()) continue;
    const auto& step = device.steps.steps[*moment.step];
    const auto peak = moment.in ? step.peak_in[*moment.in] : step.peak;
    if (peak <= highest) continue;
    highest = peak;
    event = moment.in ? step.peak_event_in[*moment.in] : step.peak_event;
  }
  return event;
}

}  // namespace memtrace::run
