// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/run/model/causes.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::terminal {

namespace {

using growth::shape;
using run::is_told;
using run::unit_of;
using verdicts::subject_kind;

[[nodiscard]] std::string rate_of(double bytes_per_step, const std::string& unit) {
  const auto bytes = static_cast<std::uint64_t>(std::llround(std::max(bytes_per_step, 0.0)));
  return fmt::format("{} a {}", text::format_bytes(bytes), unit);
}

[[nodiscard]] bool is_of_device(const verdicts::verdict& about, std::uint32_t device) {
  return about.about.kind == subject_kind::host || about.about.device == device;
}

[[nodiscard]] std::string subject_words(const verdicts::verdict& about) {
  switch (about.about.kind) {
    case subject_kind::reserved:
      return fmt::format("What PyTorch reserves on GPU {}", about.about.device);
    case subject_kind::outside:
      return fmt::format("Memory of GPU {} outside of PyTorch", about.about.device);
    case subject_kind::phase:
      return fmt::format("Within each {} GPU {}", about.about.name, about.about.device);
    case subject_kind::host:
      return about.about.name.empty() ? std::string("Host memory")
                                      : fmt::format("Host memory ({})", about.about.name);
    default:
      return fmt::format("GPU {}", about.about.device);
  }
}

// A series that grows: alone in a heading, and before the bytes of a step.
struct shape_words {
  shape which;
  const char* heading;
  const char* verb;
};
constexpr shape_words growing_shapes[] = {
    {shape::accumulating, "accumulates", "accumulates"},
    {shape::stepwise, "grows by jumps", "grows by jumps, on average"},
    {shape::sawtooth_leak, "grows beneath a sawtooth", "empties, but keeps"},
};

[[nodiscard]] const char* verb_of(shape found) {
  const auto* const known = std::ranges::find(growing_shapes, found, &shape_words::which);
  return known == std::end(growing_shapes) ? growing_shapes[0].verb : known->verb;
}

// GPU 0 accumulates 24 MiB a step: out of memory in about 830 steps (4 min 2 s)
[[nodiscard]] std::string headline(const verdicts::verdict& about) {
  const auto unit = unit_of(about);
  auto text = fmt::format("{} {} {}", subject_words(about), verb_of(about.found.shape),
                          rate_of(about.bytes_per_step, unit));
  if (about.has_been_full) return text + ", until memory ran out";
  if (!about.steps_to_oom) return text;
  const auto until = fmt::format("in about {} {}{}", text::format_count(*about.steps_to_oom), unit,
                                 *about.steps_to_oom == 1 ? "" : "s");
  text += about.limit ? fmt::format(": {} of {} is reached {}", about.limit->name,
                                    text::format_bytes(about.limit->bytes), until)
                      : fmt::format(": out of memory {}", until);
  if (about.ns_to_oom) text += fmt::format(" ({})", text::format_seconds(*about.ns_to_oom));
  return text;
}

// A call site is all that one line of the user's made: which line of a library it was of last tells
// nothing of the rest.
[[nodiscard]] std::string user_place(const std::vector<code::source_frame>& frames) {
  const auto* const user = code::innermost_user(frames);
  return user == nullptr ? code::describe_place(frames, {}) : code::place_of(*user, 1);
}

[[nodiscard]] std::string place_of(const run::process_report& process,
                                   const verdicts::suspect& who) {
  const auto& own = run::frames_at(process, who.stack);
  const auto& forward = run::frames_at(process, who.forward);
  if (own.empty() && !forward.empty()) return "backward of " + user_place(forward);
  return user_place(own);
}

// Lines that fit, the first with a label, the others indented to it.
class section {
 public:
  section(text::page& out, std::size_t room, std::size_t columns)
      : out_(out), left_(room), columns_(columns) {}

  [[nodiscard]] std::size_t left() const { return left_; }
  void line(const std::string& text, text::emphasis how = text::emphasis::none) {
    if (left_ == 0) return;
    out_.line(text, how);
    --left_;
  }
  void labelled(std::string_view label, std::string_view text, std::size_t most_lines) {
    constexpr std::size_t margin = 2;
    const std::size_t indent = margin + label.size() + 1;
    auto lines = text::wrap(text, std::max<std::size_t>(columns_, indent + 20) - indent);
    if (lines.size() > std::min(most_lines, left_)) {
      lines.resize(std::min(most_lines, left_));
      if (!lines.empty()) lines.back() += " …";
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      line(std::string(margin, ' ') +
           (i == 0 ? std::string(label) + ' ' : std::string(label.size() + 1, ' ')) + lines[i]);
    }
  }

 private:
  text::page& out_;
  std::size_t left_;
  std::size_t columns_;
};

void add_fix(section& out, const verdicts::remedy& what, bool with_cause) {
  if (with_cause) out.labelled("why:", what.cause, 2);
  out.labelled("write instead:", what.change, 3);
  if (!what.caution.empty()) out.labelled("note:", what.caution, 2);
}

// Heap scans end long before the run where they would cost too much.
[[nodiscard]] std::string seen(const verdicts::retainer& held_by, const verdicts::suspect& who) {
  // Before the first step there is no number to tell.
  const bool early = held_by.bytes < who.bytes - who.bytes / 5 && held_by.seen_at_step != 0;
  const auto when =
      early ? fmt::format("last seen at step {}", text::format_count(held_by.seen_at_step)) : "";
  if (held_by.heap_scans > 1) return early ? fmt::format(" ({})", when) : "";
  return early ? fmt::format(" (seen once, at step {})", text::format_count(held_by.seen_at_step))
               : " (seen once)";
}

void add_cause(section& out, const run::process_report& process, const run::cause& one,
               bool in_full) {
  const auto& who = *one.largest;
  auto place = fmt::format("{:.0f} % {}", 100 * one.share, place_of(process, who));
  if (one.sites > 1)
    place += fmt::format(" and {} more line{}", one.sites - 1, one.sites == 2 ? "" : "s");
  const bool known = !who.retained_by.empty();
  if (!in_full) {
    if (known) place += ", kept by `" + verdicts::variable_of(who.retained_by.front()) + "`";
    out.labelled("and", place, 1);
    return;
  }
  out.labelled("where:", place, 1);
  if (known) {
    const auto& held_by = who.retained_by.front();
    out.labelled("kept by:", verdicts::describe(held_by) + seen(held_by, who), 2);
  }
  if (who.fix) add_fix(out, *who.fix, !known);
}

// rtx5090 1,114 steps, l40s 1,589 steps, a100-80 2,904 steps: each at least a quarter larger than
// the one before it, the first than this one.
[[nodiscard]] std::string elsewhere_words(const verdicts::verdict& about, std::uint64_t here) {
  auto larger = about.elsewhere;
  std::ranges::stable_sort(larger, {}, &verdicts::steps_elsewhere::capacity_bytes);
  std::string words;
  std::size_t told = 0;
  auto least = here + here / 4;
  for (const auto& one : larger) {
    if (one.capacity_bytes < least || told == 3) continue;
    words += fmt::format("{}{} {} {}s", told == 0 ? "" : ", ", one.gpu,
                         text::format_count(one.steps), about.unit);
    least = one.capacity_bytes + one.capacity_bytes / 4;
    ++told;
  }
  return words;
}

void add_verdict(section& out, const run::process_report& process, const verdicts::verdict& about,
                 std::uint64_t capacity) {
  out.line(headline(about), text::emphasis::alarm);
  auto all = run::causes_of(about);
  std::erase_if(all, [](const run::cause& one) {
    return one.largest->expected && one.largest->expected->is_all;
  });
  for (std::size_t i = 0; i < all.size() && i < 3; ++i) {
    if (i == 0 || all[i].share >= 0.05) add_cause(out, process, all[i], i == 0);
  }
  if (about.expected) out.labelled("note:", verdicts::expected_words(about), 2);
  if (about.fix) add_fix(out, *about.fix, true);
  const auto steps = about.found.evidence.steps;
  const bool few = steps != 0 && steps + 1 < verdicts::steps_that_tell;
  if (few && about.about.kind == subject_kind::device) {
    out.labelled("how sure:",
                 fmt::format("seen over {} {}s; {} would settle it", text::format_count(steps),
                             about.unit, text::format_count(verdicts::steps_that_tell)),
                 2);
  }
  if (const auto words = elsewhere_words(about, capacity); about.steps_to_oom && !words.empty()) {
    out.labelled("elsewhere:", words, 1);
  }
}

// (validate.py:18 validate, kept by `outputs`)
[[nodiscard]] std::string what_fills(const run::process_report& process,
                                     const verdicts::verdict& about) {
  if (about.suspects.empty()) return {};
  const auto& who = about.suspects.front();
  const auto kept = who.retained_by.empty()
                        ? std::string()
                        : ", kept by `" + verdicts::variable_of(who.retained_by.front()) + "`";
  return fmt::format(" ({}{})", place_of(process, who), kept);
}

}  // namespace

void add_growth(text::page& out, const run::process_report& process,
                const run::device_report& device, std::size_t room, std::size_t columns) {
  section lines(out, room, columns);
  for (const auto& about : process.findings.verdicts) {
    if (is_told(about) && is_of_device(about, device.facts.device) && lines.left() > 1) {
      add_verdict(lines, process, about, device.facts.total_bytes);
    }
  }
  // What a device has in use, and is expected to, is told beside its other figures.
  for (const auto& about : process.findings.verdicts) {
    const auto kind = about.about.kind;
    if (kind == subject_kind::device || kind == subject_kind::site ||
        kind == subject_kind::category || !verdicts::is_expected(about) ||
        !is_of_device(about, device.facts.device)) {
      continue;
    }
    lines.line(headline(about) + "; " + verdicts::expected_words(about));
  }
  for (const auto& what : process.findings.habits) {
    if (lines.left() < 3) break;
    lines.line(what.title, text::emphasis::alarm);
    lines.labelled("cost:", what.evidence, 3);
    lines.labelled("write instead:", what.change, 2);
  }
}

namespace {

// Names what does not grow from step to step, where something else does.
[[nodiscard]] std::string none_words(const run::process_report& process, std::uint32_t device) {
  const auto told = [&](auto... kinds) {
    return std::ranges::any_of(process.findings.verdicts, [&](const verdicts::verdict& about) {
      return is_told(about) && about.about.device == device && ((about.about.kind == kinds) || ...);
    });
  };
  if (told(subject_kind::phase)) return "none from step to step";
  if (told(subject_kind::reserved, subject_kind::outside)) return "none in what is allocated";
  return "none";
}

// 24 MiB a step, expected: plotted (said at train.py:12) (train.py:31 fit, kept by `x`)
[[nodiscard]] std::string expected_words_of(const run::process_report& process,
                                            const verdicts::verdict& about) {
  auto text = fmt::format(
      "{} a {}, {}",
      text::format_bytes(static_cast<std::uint64_t>(std::llround(about.bytes_per_step))),
      unit_of(about), verdicts::expected_words(about));
  if (about.steps_to_oom) {
    text += fmt::format("; out of memory in about {} {}s", text::format_count(*about.steps_to_oom),
                        unit_of(about));
  }
  return text + what_fills(process, about);
}

// What the device's own verdict says, where it is no warning; empty: nothing.
[[nodiscard]] std::string calm_words(const run::process_report& process,
                                     const verdicts::verdict& about) {
  const auto device = about.about.device;
  const auto& found = about.found;
  if (verdicts::is_expected(about)) return expected_words_of(process, about);
  if (found.negligible) {
    return fmt::format(
        "{} a {}: negligible{}",
        text::format_bytes(static_cast<std::uint64_t>(std::llround(about.bytes_per_step))),
        unit_of(about), what_fills(process, about));
  }
  if (about.bound || verdicts::is_in_doubt(about)) return about.summary;
  const auto over =
      fmt::format("over {} {}s", text::format_count(found.evidence.steps), about.unit);
  const auto fills = what_fills(process, about);
  const auto none = none_words(process, device);
  switch (found.shape) {
    case shape::unknown:
      // No step was over when memory ran out: that says more.
      if (found.evidence.steps == 0 && ran_out(process, device)) return {};
      return found.evidence.steps == 0
                 ? "no steps were found: whether memory grows cannot be told"
                 : fmt::format(
                       "{} {}{} too few to tell; about {} more would do",
                       text::format_count(found.evidence.steps), about.unit,
                       found.evidence.steps == 1 ? " is" : "s are",
                       text::format_count(std::max<std::uint64_t>(found.more_steps_needed, 1)));
    case shape::sawtooth:
      return fmt::format("{}: {}{}", none, growth::fill_words(found.evidence, about.unit), fills);
    case shape::bounded_records:
      return "rises more and more rarely, " + over;
    case shape::warmup_plateau:
      return std::ranges::any_of(about.suspects,
                                 [](const auto& who) { return who.fills.has_value(); })
                 ? about.summary
                 : none + " after a start, " + over;
    default:
      return none + ": steady " + over;
  }
}

// The first line with a label, the others below its text.
void add_fact(std::vector<std::string>& lines, std::string_view label, const std::string& words,
              std::size_t columns) {
  constexpr std::size_t indent = 17;
  const auto wrapped = text::wrap(words, std::max<std::size_t>(columns, indent + 40) - indent);
  for (std::size_t i = 0; i < wrapped.size(); ++i) {
    lines.push_back(fmt::format("  {:<14} {}", i == 0 ? label : "", wrapped[i]));
  }
}

}  // namespace

std::vector<std::string> calm_lines(const run::process_report& process, std::uint32_t device,
                                    std::size_t columns) {
  std::vector<std::string> lines;
  const auto* const whole = verdicts::of_device(process.findings, device);
  if (whole != nullptr && !is_told(*whole)) {
    if (const auto words = calm_words(process, *whole); !words.empty()) {
      add_fact(lines, "growth", words, columns);
    }
  }
  for (const auto& about : process.findings.verdicts) {
    const bool is_phase = about.about.kind == subject_kind::phase && about.about.device == device;
    if (!is_phase || is_told(about)) continue;
    add_fact(lines, "", about.summary + what_fills(process, about), columns);
  }
  return lines;
}

std::string growth_in_brief(const run::process_report& process, std::uint32_t device) {
  const auto* const about = verdicts::of_device(process.findings, device);
  if (about == nullptr || !is_told(*about)) return {};
  return fmt::format(", {} {}", verb_of(about->found.shape),
                     rate_of(about->bytes_per_step, "step"));
}

std::string shape_heading(shape found) {
  const auto* const known = std::ranges::find(growing_shapes, found, &shape_words::which);
  if (known != std::end(growing_shapes)) return known->heading;
  std::string words(growth::name_of(found));
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace memtrace::terminal
