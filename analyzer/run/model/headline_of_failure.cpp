// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/run/model/causes.h"
#include "analyzer/run/model/expected.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/run/model/headline_words.h"
#include "analyzer/run/model/refusals.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

using text::brief_bytes;

constexpr std::uint64_t least_part =
    10;  // of what was allocated when memory ran out, to be the reason

// What has grown until memory ran out, if it is a tenth of what was allocated then, and the request
// would have been met without it: what grows more slowly is not why.
[[nodiscard]] const verdicts::verdict* growth_to(const process_report& process,
                                                 const oom_report& oom) {
  const auto* const growing = first_told(process, oom.facts.device);
  if (growing == nullptr || growing->suspects.empty()) return growing;
  std::uint64_t grown = 0;
  for (const auto& one : growing->suspects) grown += one.bytes;
  const auto in_one_piece = oom.facts.has_layout ? oom.facts.free.usable : 0;
  const bool would_pass = grown + oom.facts.device_free + in_one_piece >= oom.facts.requested;
  const bool is_much = grown >= oom.facts.totals.allocated / least_part;
  return is_much && would_pass ? growing : nullptr;
}

// "kept by `pool.jobs`": the container that keeps half of what was allocated, and is no optimizer's.
[[nodiscard]] std::string retainer_of_most(const oom_report& oom) {
  if (oom.retained_by.empty()) return {};
  const auto& first = oom.retained_by.front();
  constexpr auto others = format::held_graph | format::held_has_graph | format::held_gradient |
                          format::held_unreachable;
  const bool is_most = first.bytes >= oom.facts.totals.allocated / 2;
  const auto& rows = oom.held ? oom.held->categories : std::vector<category_row>();
  const bool is_of_optimizer =
      !rows.empty() && std::ranges::max_element(rows, {}, &category_row::bytes)->what ==
                           attribution::category::optimizer_states;
  if (!is_most || is_of_optimizer || first.container.empty() || (first.flags & others) != 0)
    return {};
  const auto name = verdicts::name_of(first);
  return name.empty() ? name : "kept by " + name;
}

// "5.7 GiB of 8.4 GiB are activations", of one line where it has most of them.
[[nodiscard]] std::string most_held(const oom_report& oom) {
  const auto* const line = oom.holders.empty() ? nullptr : &oom.holders.front();
  const auto part = [&](std::uint64_t bytes, attribution::category what) {
    const bool is_of_line = line != nullptr && line->what == what && line->bytes >= bytes / 2;
    const auto place = is_of_line ? place_of_user(line->frames, line->forward) : std::string();
    const auto share =
        fmt::format("{} of {}", brief_bytes(bytes), brief_bytes(oom.facts.totals.allocated));
    if (place.empty()) return fmt::format("{} are {}", share, words_of(what));
    if (what == attribution::category::unknown) return share + " were made at " + place;
    return fmt::format("{} are {} of {}", share, words_of(what), place);
  };
  if (oom.held && !oom.held->categories.empty()) {
    const auto& rows = oom.held->categories;
    const auto& most = *std::ranges::max_element(rows, {}, &category_row::bytes);
    if (most.what != attribution::category::unknown) return part(most.bytes, most.what);
  }
  return line == nullptr ? std::string() : part(line->bytes, line->what);
}

// What is not superseded and lets the program pass; null: nothing does.
[[nodiscard]] const change* cure_of(const process_report& process) {
  const auto found = std::ranges::find_if(process.changes, [](const change& one) {
    return one.mends_out_of_memory && !one.superseded;
  });
  return found == process.changes.end() ? nullptr : &*found;
}

// "2.25 GiB of 7.65 GiB are not used again (load.py:12)": the memory that the cure is about.
[[nodiscard]] std::string concern_of(const change& cure, const oom_report& oom) {
  const auto line = place_of_user(cure.frames, {});
  const auto place = line.empty() ? std::string() : fmt::format(" ({})", line);
  const auto& about = *cure.about;
  if (about.with_request)
    return fmt::format("with it {} {}{}", brief_bytes(about.bytes), about.words, place);
  return fmt::format("{} of {} {}{}", brief_bytes(about.bytes),
                     brief_bytes(oom.facts.totals.allocated), about.words, place);
}

// How much that, or what is most, had when memory ran out.
[[nodiscard]] std::uint64_t bytes_of(const change& cure, const oom_report& oom) {
  if (cure.about)
    return cure.about->bytes -
           (cure.about->with_request ? std::min(oom.facts.requested, cure.about->bytes) : 0);
  std::uint64_t most = 0;
  if (oom.held) {
    for (const auto& row : oom.held->categories) most = std::max(most, row.bytes);
  }
  return most;
}

// The setting that gets past this request, of which nothing says whether it does past the next; null: there
// is none.
[[nodiscard]] const change* first_help(const process_report& process) {
  const auto found = std::ranges::find_if(process.changes, [](const change& one) {
    return one.gets_past_request && !setting_of(one).empty();
  });
  return found == process.changes.end() ? nullptr : &*found;
}

[[nodiscard]] std::string in_pieces(const oom_report& oom) {
  return brief_bytes(oom.facts.totals.all_unused() + oom.facts.device_free) +
         " were unused, but in pieces";
}

constexpr std::string_view unread = "unread_variable";

// What the program does not read any more and would do: where something grew, it is that, else most of all. Null: there is
// none, or a replay has shown more than this.
[[nodiscard]] const verdicts::retainer* unread_of(const process_report& process,
                                                  const oom_report& oom) {
  if (!oom.fix || oom.fix->id != unread) return nullptr;
  const auto& held_by = oom.retained_by[oom.fix_is_for];
  const auto* const cure = cure_of(process);
  // Another one that costs nothing, and is more than a setting, has been tried out.
  if (cure != nullptr && cure->free && setting_of(*cure).empty()) return nullptr;
  const auto* const growing = growth_to(process, oom);
  if (growing == nullptr)
    return held_by.bytes >= oom.facts.totals.allocated / 2 ? &held_by : nullptr;
  const auto* const who = largest_suspect(*growing);
  const bool is_it =
      who != nullptr && !who->retained_by.empty() &&
      verdicts::variable_of(who->retained_by.front()) == verdicts::variable_of(held_by);
  return is_it ? &held_by : nullptr;
}

// Why a request failed: what grew until then; what the cure is about; free memory in pieces that
// would have been enough; or what most of it is.
[[nodiscard]] std::vector<std::string> reason_of(const process_report& process,
                                                 const oom_report& oom) {
  if (const auto* const held_by = unread_of(process, oom)) {
    return {fmt::format("`{}` keeps {} of {} that no line reads again",
                        verdicts::variable_of(*held_by), brief_bytes(held_by->bytes),
                        brief_bytes(oom.facts.totals.allocated))};
  }
  if (const auto* const growing = growth_to(process, oom)) {
    auto parts = growth_parts(process, *growing);
    parts.front() = "grew by " + parts.front();
    return parts;
  }
  if (oom.fix && oom.fix->id != unread) {
    const auto& first = oom.retained_by.front();
    const auto* const where = oom.fix->id == "graph_of_gradients" ? "through graphs of gradients"
                              : oom.fix->id == "eval_accumulation_steps"
                                  ? "of results of an evaluation"
                                  : "in the frames of errors";
    return {fmt::format("`{}` keeps {} {}", verdicts::variable_of(first), brief_bytes(first.bytes),
                        where)};
  }
  const auto* const cure = cure_of(process);
  const bool is_setting = cure != nullptr && !setting_of(*cure).empty();
  const auto unused = oom.facts.totals.all_unused() + oom.facts.device_free;
  const bool is_much = unused >= oom.facts.totals.allocated / least_part;
  const bool was_enough = was_in_pieces(process, oom);
  // Where less memory is what helps, pieces that would have been enough are the reason if they are more.
  const bool is_by_pieces =
      was_enough && (is_setting || (is_much && (cure == nullptr || unused > bytes_of(*cure, oom))));
  const auto* const help = is_by_pieces && is_much ? first_help(process) : nullptr;
  if (help != nullptr)
    return {in_pieces(oom), "gets past it (checked by replay): " + setting_of(*help)};
  // Nothing is known that puts the pieces together: who has more than all of them is the reason.
  const bool is_kept =
      cure == nullptr && !oom.retained_by.empty() &&
      oom.retained_by.front().bytes > std::max(unused, oom.facts.totals.allocated / 2);
  if (is_by_pieces && !is_kept) return {in_pieces(oom)};
  const bool is_largest = oom.facts.requested >= oom.facts.totals.allocated;
  if (is_largest && !was_enough && oom.capacity)
    return {"it alone is " + use_words(oom.facts.requested, *oom.capacity)};
  if (cure != nullptr && cure->about) return {concern_of(*cure, oom)};
  std::vector<std::string> parts;
  if (auto most = most_held(oom); !most.empty()) parts.push_back(std::move(most));
  if (auto retainer = retainer_of_most(oom); !retainer.empty())
    parts.push_back(std::move(retainer));
  return parts;
}

// Another setting or a smaller batch gets past this request, and what grows meets the next one.
[[nodiscard]] std::string cure_of_what_grew(const process_report& process, const oom_report& oom) {
  const auto* const growing = growth_to(process, oom);
  if (growing == nullptr) {
    const bool is_told = oom.fix && oom.fix->id != unread;
    return is_told ? advice::brief_words(oom.fix->id) : std::string();
  }
  const auto* const who = largest_suspect(*growing);
  const auto& fix = who != nullptr && who->fix ? who->fix : growing->fix;
  return fix ? advice::brief_words(fix->id) : std::string();
}

}  // namespace

std::string setting_of(const change& cure) {
  auto setting = cure.what.substr(0, cure.what.find(' '));
  const bool fits = setting.find('=') != setting.npos && setting.size() <= 80;
  return fits && setting.starts_with("PYTORCH_") ? setting : std::string();
}

std::string fix_words(const change& cure) {
  const bool is_replayed = cure.how == advice::proof::replayed;
  const auto how = is_replayed && (cure.is_settled || !cure.mends_out_of_memory)
                       ? "checked by replay"
                       : name_of(is_replayed ? advice::proof::estimated : cure.how);
  const auto setting = setting_of(cure);
  return fmt::format("fix ({}): {}", how, setting.empty() ? advice::brief_words(cure.id) : setting);
}

std::vector<std::string> out_of_memory_parts(const process_report& process, const oom_report& oom) {
  std::vector<std::string> parts{brief_bytes(oom.facts.requested) + " refused" +
                                 at_line(oom.frames, oom.forward)};
  for (auto& one : reason_of(process, oom)) parts.push_back(std::move(one));
  if (unread_of(process, oom) != nullptr) {
    parts.push_back("fix (estimated): " + oom.fix->change);
  } else if (const auto words = cure_of_what_grew(process, oom); !words.empty()) {
    parts.push_back("fix: " + words);
  } else if (const auto* const cure = cure_of(process)) {
    parts.push_back(fix_words(*cure));
  }
  return parts;
}

}  // namespace memtrace::run
