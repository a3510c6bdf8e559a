// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/audit.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"

namespace memtrace::audit {

namespace {

using text::emphasis;
using text::format_bytes;
using text::format_count;
using text::format_seconds;
using text::page;

[[nodiscard]] std::string how_long(const trace_audit& audit) {
  const auto& told = audit.told;
  auto text =
      fmt::format("CUPTI {} listened for {}", told.version, format_seconds(audit.listened_ns));
  if (!told.end_ns) {
    text += ", as far as its records were delivered: the program was killed";
  } else if (!told.reason.empty()) {
    text += fmt::format(", until {}", told.reason);
  }
  if (told.lost > 0) text += fmt::format("; it lost {} records", format_count(told.lost));
  return text;
}

void add_totals(page& out, const trace_audit& audit) {
  out.line(fmt::format("{:<22}{:>14}{:>14}{:>14}", "", "memtrace", "CUPTI", "both"),
           emphasis::heading);
  const auto row = [&](const char* name, const auto& show, auto ours, auto theirs,
                       const std::string& both) {
    out.line(fmt::format("{:<22}{:>14}{:>14}{:>14}", name, show(ours), show(theirs), both));
  };
  row("allocations", format_count, audit.ours.allocations, audit.theirs.allocations,
      format_count(audit.allocations));
  row("releases", format_count, audit.ours.releases, audit.theirs.releases,
      format_count(audit.releases));
  row("allocated in all", format_bytes, audit.ours.bytes, audit.theirs.bytes,
      format_bytes(audit.bytes));
}

[[nodiscard]] std::string where(const finding& one) {
  for (const auto& frame : one.frames) {
    if (frame.user) {
      return fmt::format("  {}:{} {}", frame.file, frame.line, frame.function);
    }
  }
  return one.owner.empty() ? std::string() : "  " + one.owner;
}

[[nodiscard]] std::string line_of(const finding& one) {
  const auto& seen = one.seen;
  const auto api = one.api.empty() ? std::string() : "  " + one.api;
  return fmt::format(
      "  {:>10}  {}  {:#x}  {}  device {}{}{}",
      format_seconds(static_cast<std::uint64_t>(std::max<std::int64_t>(seen.time_ns, 0))),
      seen.is_release ? "release   " : "allocation", seen.address,
      seen.bytes == 0 ? std::string("-") : format_bytes(seen.bytes), seen.device, api, where(one));
}

void add_findings(page& out, const char* title, const std::vector<finding>& findings,
                  std::size_t shown) {
  if (findings.empty()) return;
  out.blank();
  out.line(fmt::format("{}: {}", title, format_count(findings.size())), emphasis::alarm);
  const auto count = shown == 0 ? findings.size() : std::min(shown, findings.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto text = line_of(findings[i]);
    if (findings[i].other_bytes != 0) {
      text += fmt::format("; CUPTI: {}", format_bytes(findings[i].other_bytes));
    }
    out.line(text);
  }
  if (count < findings.size()) {
    out.line(fmt::format("  and {} more: --all", format_count(findings.size() - count)),
             emphasis::faint);
  }
}

void add_not_compared(page& out, const trace_audit& audit) {
  const auto kinds = [&](const char* who, const std::map<std::string, not_compared>& list) {
    for (const auto& [what, sum] : list) {
      out.line(fmt::format("not compared, {} tells of it: {} of {}, {}", who,
                           format_count(sum.count), what, format_bytes(sum.bytes)),
               emphasis::faint);
    }
  };
  kinds("only memtrace", audit.told.only_hooks);
  kinds("only CUPTI", audit.told.only_cupti);
  if (audit.outside > 0) {
    out.line(fmt::format("not compared, CUPTI did not listen yet or no longer: {}",
                         format_count(audit.outside)),
             emphasis::faint);
  }
  if (audit.at_the_edge > 0) {
    out.line(fmt::format("seen by one only, just when CUPTI began or ended: {}",
                         format_count(audit.at_the_edge)),
             emphasis::faint);
  }
}

void add_devices(page& out, const trace_audit& audit) {
  for (const auto& [index, device] : audit.told.devices) {
    for (const auto& words : {device::kernel_words(device), device::migration_words(device)}) {
      if (!words.empty()) out.line(fmt::format("device {}: {}", index, words));
    }
  }
}

void add_verdict(page& out, const trace_audit& audit) {
  out.blank();
  if (audit.verdict == agreement::same) {
    out.line("same: both saw the same allocations and releases, one by one", emphasis::heading);
    return;
  }
  if (audit.verdict == agreement::nothing) {
    out.line("nothing compared: neither saw memory of the kinds that both can see",
             emphasis::alarm);
    return;
  }
  std::string text = "different: they did not see the same";
  if (audit.told.lost > 0) text += "; what CUPTI lost may explain what it missed";
  out.line(text, emphasis::alarm);
}

}  // namespace

std::string to_text(const trace_audit& audit, std::size_t shown, const text::style& style) {
  page out;
  out.line(audit.path, emphasis::heading);
  if (!audit.told.has_witness) {
    const auto& reason = audit.told.reason;
    out.line(reason.empty() ? "no second witness: record with MEMTRACE_CUPTI=1"
                            : "no second witness: " + reason,
             emphasis::alarm);
    return out.render(style.colour, style.width);
  }
  out.line(how_long(audit));
  add_totals(out, audit);
  add_not_compared(out, audit);
  add_devices(out, audit);
  add_findings(out, "missed by CUPTI", audit.missed_by_cupti, shown);
  add_findings(out, "missed by memtrace", audit.missed_by_hooks, shown);
  add_findings(out, "seen with another size", audit.other_size, shown);
  add_verdict(out, audit);
  return out.render(style.colour, style.width);
}

}  // namespace memtrace::audit
