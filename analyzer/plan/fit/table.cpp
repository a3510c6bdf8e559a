// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/show.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/plan/fit/length_law.h"
#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

namespace {

[[nodiscard]] std::string batch_of_text(const boundary& found) {
  if (found.verified) return found.largest == 0 ? "none" : std::to_string(found.largest);
  if (found.refused) return fmt::format("{}-{}", found.largest, *found.refused - 1);
  return fmt::format("{} or more", found.largest);
}

[[nodiscard]] std::string use_of(const row& one) {
  const auto* const device = one.found.fitted ? one.found.fitted->fullest() : nullptr;
  if (device == nullptr) return "-";
  return fmt::format("{} of {} ({:.0f} %)", text::format_bytes(device->used),
                     text::format_bytes(one.gpu.total_bytes),
                     text::percent(device->used, one.gpu.total_bytes));
}

// HF's find_executable_batch_size goes on with half of what ran out, from some first batch.
struct other_ways {
  std::uint64_t brute_force = 0;
  std::uint64_t halving = 0;
  std::uint64_t halving_batch = 0;
};

[[nodiscard]] other_ways compared(const boundary& found, std::uint64_t step) {
  other_ways made;
  made.brute_force = found.largest / step + 1;
  std::uint64_t batch = 1024 * step;
  while (batch < found.largest) batch *= 2;
  for (made.halving = 1; batch > found.largest; batch /= 2) ++made.halving;
  made.halving_batch = batch;
  return made;
}

void details(text::page& page, const wishes& wanted, const row& one) {
  const auto& found = one.found;
  page.blank();
  page.line(one_line(wanted, one), text::emphasis::heading);
  if (found.fitted && found.fitted->caught) {
    page.item("", "the program ran out of memory there, and caught it");
  }
  if (found.ran_out && found.ran_out->caught) {
    page.item(
        "", fmt::format("at {} the program runs out of memory and catches it: what it does then is "
                        "not this batch",
                        *found.refused));
  }
  if (found.fitted) {
    if (const auto caution = caution_of(*found.fitted); !caution.empty()) {
      page.item("but: ", caution);
    }
  }
  if (one.why.bound) page.item("what binds it: ", sentence_of(*one.why.bound));
  std::size_t number = 0;
  for (const auto& way : one.why.ways) {
    page.item(
        fmt::format("{}. ", ++number),
        fmt::format("for batch {}: {}: {} (saves {}, {})", *found.refused, way.title, way.change,
                    text::format_bytes(
                        static_cast<std::uint64_t>(std::max<std::int64_t>(0, way.saves_bytes))),
                    way.how));
  }
  for (const auto& other : one.others) {
    const auto& own = other.found;
    page.item(fmt::format("{}: ", name_of(other.what)),
              fmt::format("batch {}{}, beside the training at {} ({})", batch_of_text(own),
                          own.refused ? fmt::format(", {} does not", *own.refused) : "",
                          found.largest, dry_runs(own.runs)) +
                  (own.why.empty() ? "" : ": " + own.why));
  }
  if (one.line && one.line->per_item > 0) {
    page.item("law: ",
              fmt::format(
                  "in use at once {} + {} for each of the batch, {}",
                  text::format_bytes(static_cast<std::uint64_t>(std::max(0.0, one.line->constant))),
                  text::format_bytes(static_cast<std::uint64_t>(one.line->per_item)),
                  one.kind == law_kind::requests
                      ? "and the requests of each batch through the allocator's model"
                      : "between the measured capacities"));
  }
  if (const auto host = host_side_of(found.hosts); host && found.largest != 0) {
    page.item("host: ", sentence_of(*host, found.largest));
  }
  if (found.verified && found.largest != 0 && !found.all_fit) {
    const auto others = compared(found, wanted.range.step);
    page.item("", fmt::format("{}; every batch in turn: {}; halving from 1024: {}, "
                              "which ends at batch {}",
                              dry_runs(found.runs), others.brute_force, others.halving,
                              others.halving_batch));
  }
}

}  // namespace

std::string dry_runs(std::uint64_t count) {
  return fmt::format("{} dry run{}", count, count == 1 ? "" : "s");
}

std::string name_of(const wishes& wanted, const row& one) {
  std::string name = one.gpu.label;
  if (one.sequence) name += fmt::format(", length {}", *one.sequence);
  for (const auto& flags : wanted.variants[one.variant].names) name += ", " + flags;
  return name;
}

std::string one_line(const wishes& wanted, const row& one) {
  const auto& found = one.found;
  const auto runs = fmt::format("({})", dry_runs(found.runs));
  const auto name = name_of(wanted, one);
  if (found.trouble) return fmt::format("{}: {}", name, found.why);
  if (!found.verified) {
    return fmt::format("{}: batch {}, not verified: {}", name, batch_of_text(found), found.why);
  }
  if (found.largest == 0) {
    return fmt::format("{}: no batch fits: {} runs out of memory {}", name, *found.refused, runs);
  }
  if (found.all_fit) {
    return fmt::format("{}: every batch fits, up to {}; --max-batch looks further {}", name,
                       found.largest, runs);
  }
  return fmt::format("{}: batch {} fits, {} does not {}", name, found.largest, *found.refused,
                     runs);
}

text::page show(const wishes& wanted, const plan& made) {
  text::page page;
  std::size_t widest = 3;
  for (const auto& one : made.rows) widest = std::max(widest, name_of(wanted, one).size());
  page.line(fmt::format("{:<{}}  {:>9}  {:>33}  {:>11}  {:>5}", "GPU", widest, "batch",
                        "in use at it", "with margin", "runs"),
            text::emphasis::heading);
  for (const auto& one : made.rows) {
    page.line(fmt::format("{:<{}}  {:>9}  {:>33}  {:>11}  {:>5}", name_of(wanted, one), widest,
                          batch_of_text(one.found), use_of(one),
                          one.with_margin ? std::to_string(*one.with_margin) : "-",
                          one.found.runs));
  }
  for (const auto& one : made.rows) details(page, wanted, one);
  for (const auto& law : length_laws(wanted, made)) {
    page.blank();
    page.line(fmt::format("{}, at any length", law.name), text::emphasis::heading);
    page.item("law: ", sentence_of(law));
  }
  page.blank();
  page.item("margin: ",
            fmt::format(
                "{} less than the GPU has. On GPUs of compute capability 9.0 the simulated context "
                "and cuBLAS take what they took on an H200; on others the context takes 256 MiB, "
                "where real ones take 250 to 700 by GPU and driver. What cuDNN and NCCL ask for is "
                "not simulated (simulator/constants.def). Other programs on the GPU come on top.",
                text::format_bytes(wanted.margin_bytes)));
  page.line(fmt::format("  {} in {}", dry_runs(made.runs),
                        text::format_seconds(static_cast<std::uint64_t>(made.seconds * 1e9))));
  return page;
}

}  // namespace memtrace::fit
