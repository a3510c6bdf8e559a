// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/show.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/plan/fit/length_law.h"
#include "analyzer/plan/fit/trial.h"
#include "analyzer/show/html/template.h"

namespace memtrace::fit {

namespace {

using html::escaped_text;

constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>memtrace fit</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1b1b1f; background: #fff; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .45rem .8rem; text-align: right; border: 1px solid #d5d5dd; white-space: nowrap; }
th:first-child { text-align: left; }
td b { font-size: 1.15em; }
td small { display: block; }
.unknown { background: #ececf1; font-style: italic; }
h2 { margin-top: 2rem; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: 0 0 0 1rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6ea; background: #16161a; }
  th, td { border-color: #3a3a44; }
  .unknown { background: #2a2a32; }
}
</style>
</head>
<body>
<h1>Which batch fits</h1>
)";

// How the cell's number stands between the least and the most of the grid, on the scale on which
// batches are chosen: doubled or halved.
[[nodiscard]] double share_of(std::uint64_t batch, std::uint64_t most) {
  if (batch == 0 || most <= 1) return batch == 0 ? 0 : 1;
  return std::log1p(static_cast<double>(batch)) / std::log1p(static_cast<double>(most));
}

// From a pale to a deep blue; the text in the colour that is read on it.
[[nodiscard]] std::string style_of(double share) {
  const auto light = 94 - share * 52;
  return fmt::format("background:hsl(212 70% {:.0f}%);color:{}", light,
                     light < 62 ? "#fff" : "#1b1b1f");
}

[[nodiscard]] std::string cell_of(const row& one, std::uint64_t most) {
  const auto& found = one.found;
  if (!found.verified) {
    return fmt::format("<td class=\"unknown\" title=\"{}\">not verified</td>",
                       escaped_text(found.why));
  }
  const auto* const device = found.fitted ? found.fitted->fullest() : nullptr;
  const auto use =
      device == nullptr
          ? std::string()
          : fmt::format("<small>{} ({:.0f} %)</small>", text::format_bytes(device->used),
                        text::percent(device->used, one.gpu.total_bytes));
  return fmt::format("<td style=\"{}\"><b>{}{}</b>{}</td>", style_of(share_of(found.largest, most)),
                     found.largest == 0 ? std::string("none") : std::to_string(found.largest),
                     found.all_fit ? "+" : "", use);
}

[[nodiscard]] std::string line_name(const wishes& wanted, const row& one) {
  std::vector<std::string> parts;
  if (one.sequence) parts.push_back(fmt::format("length {}", *one.sequence));
  for (const auto& name : wanted.variants[one.variant].names) parts.push_back(name);
  return parts.empty() ? "largest batch" : text::join(parts, ", ");
}

[[nodiscard]] std::string grid(const wishes& wanted, const plan& made) {
  std::uint64_t most = 1;
  for (const auto& one : made.rows) most = std::max(most, one.found.largest);
  std::string text = "<div class=\"wide\"><table>\n<tr><th scope=\"col\"></th>";
  for (const auto& gpu : wanted.gpus) {
    text += fmt::format("<th scope=\"col\">{}</th>", escaped_text(gpu.label));
  }
  text += "</tr>\n";
  for (std::size_t i = 0; i < made.rows.size();) {
    const auto& first = made.rows[i];
    text += fmt::format("<tr><th scope=\"row\">{}</th>", escaped_text(line_name(wanted, first)));
    for (; i < made.rows.size() && made.rows[i].sequence == first.sequence &&
           made.rows[i].variant == first.variant;
         ++i) {
      text += cell_of(made.rows[i], most);
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

[[nodiscard]] std::string details_of(const wishes& wanted, const row& one) {
  auto text = fmt::format("<dt>{}</dt>\n", escaped_text(one_line(wanted, one)));
  if (one.with_margin) {
    text += fmt::format("<dd>With {} left free: batch {}.</dd>\n",
                        text::format_bytes(wanted.margin_bytes), *one.with_margin);
  }
  if (one.found.fitted) {
    if (const auto caution = caution_of(*one.found.fitted); !caution.empty()) {
      text += fmt::format("<dd>But: {}.</dd>\n", escaped_text(caution));
    }
  }
  for (const auto& other : one.others) {
    text += fmt::format("<dd>{} beside it: batch {}{}</dd>\n", name_of(other.what),
                        other.found.largest, other.found.verified ? "" : ", not verified");
  }
  if (one.why.bound) {
    text += fmt::format("<dd>What binds it: {}.</dd>\n", escaped_text(sentence_of(*one.why.bound)));
  }
  for (const auto& way : one.why.ways) {
    text += fmt::format(
        "<dd>To reach {}: {}: <code>{}</code> (saves {}, {})</dd>\n", *one.found.refused,
        escaped_text(way.title), escaped_text(way.change),
        text::format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, way.saves_bytes))),
        way.how);
  }
  return text;
}

}  // namespace

std::string to_html(const wishes& wanted, const plan& made) {
  std::string text(head);
  text += fmt::format("<p><code>{}</code></p>\n", escaped_text(text::join(wanted.command, " ")));
  text += grid(wanted, made);
  text +=
      "<p>Each number was verified: a dry run of the program at it got through on a simulated GPU "
      "of that size, and one at the next batch ran out of memory. The share is of the GPU's "
      "memory, with the context.</p>\n<h2>Each cell</h2>\n<dl>\n";
  for (const auto& one : made.rows) text += details_of(wanted, one);
  for (const auto& law : length_laws(wanted, made)) {
    text += fmt::format("<dt>{}, at any length</dt>\n<dd>{}.</dd>\n", escaped_text(law.name),
                        escaped_text(sentence_of(law)));
  }
  text += fmt::format("</dl>\n<p>{} in {}.</p>\n</body>\n</html>\n", dry_runs(made.runs),
                      text::format_seconds(static_cast<std::uint64_t>(made.seconds * 1e9)));
  return text;
}

}  // namespace memtrace::fit
