// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/base/text/units.h"
#include "analyzer/plan/serve/cell.h"

namespace memtrace::serve {

namespace {

[[nodiscard]] std::string size_or_dash(std::uint64_t bytes) {
  return bytes == 0 ? "-" : text::format_bytes(bytes);
}

[[nodiscard]] std::string times(double number) {
  return fmt::format("{:.1f}", number);
}

// "weights 14.97 GiB, CUDA context 526.81 MiB, …"
[[nodiscard]] std::string list_of(const std::vector<share>& shares) {
  constexpr std::size_t most = 6;
  std::string list;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i >= most) {
      rest += shares[i].bytes;
    } else {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", shares[i].name,
                          text::format_bytes(shares[i].bytes));
    }
  }
  return rest == 0 ? list : fmt::format("{}, others {}", list, text::format_bytes(rest));
}

struct outcome_words {
  std::string_view cell;
  std::string_view sentence;
};

[[nodiscard]] outcome_words in_words(outcome what) {
  switch (what) {
    case outcome::answers:
    case outcome::ended:
      return {"yes", "starts"};
    case outcome::out_of_memory:
      return {"no", "runs out of memory"};
    case outcome::failed:
      return {"no", "does not start"};
    case outcome::timed_out:
      return {"not in time", "did not start in time"};
    case outcome::stopped:
      break;
  }
  return {"not known", "was not finished"};
}

constexpr std::string_view row_format = "{:<{}}  {:>11}  {:>11}  {:>10}  {:>8}  {:>5}  {:>11}";

}  // namespace

std::string name_of(const request& wanted, const cell& one) {
  std::string name = one.gpu.label;
  for (const auto& flags : wanted.variants[one.variant].names) name += ", " + flags;
  return name;
}

std::string one_line(const request& wanted, const cell& one) {
  const auto name = name_of(wanted, one);
  if (!came_up(one.came)) {
    return fmt::format("{}: {}: {}", name, in_words(one.came).sentence, one.why);
  }
  if (!one.said.tokens) return fmt::format("{}: starts", name);
  return fmt::format("{}: starts, with room for {} tokens", name,
                     text::format_count(*one.said.tokens));
}

text::page show(const request& wanted, const std::vector<cell>& cells, double seconds) {
  text::page page;
  std::size_t widest = 13;
  for (const auto& one : cells) widest = std::max(widest, name_of(wanted, one).size());
  page.line(fmt::format(fmt::runtime(row_format), "GPU, settings", widest, "starts", "KV cache",
                        "tokens", "at once", "GPUs", "left a GPU"),
            text::emphasis::heading);
  for (const auto& one : cells) {
    const bool up = came_up(one.came);
    page.line(fmt::format(fmt::runtime(row_format), name_of(wanted, one), widest,
                          in_words(one.came).cell, up ? size_or_dash(one.kv_cache_bytes) : "-",
                          one.said.tokens && up ? text::format_count(*one.said.tokens) : "-",
                          one.said.requests_at_once && up ? times(*one.said.requests_at_once) : "-",
                          up ? std::to_string(one.devices) : "-",
                          up ? text::format_bytes(one.left_bytes()) : "-"));
  }
  for (const auto& one : cells) {
    page.blank();
    page.line(came_up(one.came)
                  ? one_line(wanted, one)
                  : fmt::format("{}: {}", name_of(wanted, one), in_words(one.came).sentence),
              text::emphasis::heading);
    if (!one.why.empty()) page.item("", one.why);
    if (came_up(one.came) && one.used_bytes != 0) {
      page.item("", fmt::format("{} of {} in use at most{}: {}", text::format_bytes(one.used_bytes),
                                text::format_bytes(one.gpu.total_bytes),
                                one.devices > 1 ? " on the fullest GPU" : "", list_of(one.shares)));
    }
    if (came_up(one.came) && one.said.requests_at_once && one.said.length) {
      page.item("",
                fmt::format("{} requests of {} tokens at once", times(*one.said.requests_at_once),
                            text::format_count(*one.said.length)));
    }
  }
  if (wanted.requests != 0) {
    const auto* const best = smallest_that_serves(wanted, cells);
    page.blank();
    page.sentence(
        best == nullptr
            ? fmt::format("None of these holds {} requests of {} tokens at once.",
                          text::format_count(wanted.requests), text::format_count(wanted.tokens))
            : fmt::format("The least GPU memory that holds {} requests of {} tokens at once: {}.",
                          text::format_count(wanted.requests), text::format_count(wanted.tokens),
                          name_of(wanted, *best)),
        text::emphasis::heading);
  }
  page.blank();
  const auto tried = std::ranges::count_if(cells, [](const cell& one) { return one.seconds > 0; });
  page.line(fmt::format("  {} start{} on simulated GPUs in {}", tried, tried == 1 ? "" : "s",
                        text::format_seconds(static_cast<std::uint64_t>(seconds * 1e9))));
  return page;
}

}  // namespace memtrace::serve
