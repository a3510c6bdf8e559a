// SPDX-License-Identifier: Apache-2.0
//
// The answer of a run in one line.
#include "analyzer/run/model/headline.h"

#include <string>
#include <utility>

#include "tests/unit/catch.h"

using namespace memtrace;
using run::standing;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

[[nodiscard]] std::vector<code::source_frame> at(std::uint32_t line) {
  return {{"/lib/python3/site-packages/torch/nn/linear.py", 7, "forward", false},
          {"/srv/train.py", line, "main", true}};
}

// One GPU of 16 GiB on which nothing grew over 60 steps.
[[nodiscard]] run::process_report steady() {
  run::process_report made;
  made.completeness.clean_exit = true;
  auto& device = made.devices.emplace_back();
  device.facts.total_bytes = 16 * gib;
  device.peak_allocated.totals = {};
  device.peak_allocated.totals.allocated = 3 * gib;
  device.peak_reserved.totals.reserved = 4 * gib;
  auto& verdict = made.findings.verdicts.emplace_back();
  verdict.found.shape = growth::shape::steady;
  verdict.found.evidence.steps = 60;
  return made;
}

[[nodiscard]] run::process_report leaking(double bytes_per_step) {
  auto made = steady();
  auto& verdict = made.findings.verdicts.front();
  verdict.found.shape = growth::shape::accumulating;
  verdict.bytes_per_step = bytes_per_step;
  verdict.steps_to_oom = 6140;
  auto& suspect = verdict.suspects.emplace_back();
  suspect.stack = trace::stack_id{1};
  suspect.share = 1;
  suspect.bytes_per_step = bytes_per_step;
  suspect.bytes = 6 * gib;
  suspect.retained_by.emplace_back().path = "history[…]";
  made.verdict_frames[trace::stack_id{1}] = at(18);
  return made;
}

void run_out(run::process_report& process, std::uint64_t requested, bool caught) {
  auto& oom = process.ooms.emplace_back();
  oom.facts.requested = requested;
  oom.facts.caught = caught;
  oom.facts.totals.allocated = 10 * gib;
  oom.facts.totals.reserved = 15 * gib;
  oom.frames = at(42);
  auto& holder = oom.holders.emplace_back();
  holder.frames = at(6);
  holder.bytes = 7 * gib;
  holder.what = attribution::category::activations;
}

[[nodiscard]] std::string said_of(const run::process_report& process) {
  return text_of(run::headline_of(process));
}

}  // namespace

TEST_CASE("GIVEN a run without growth THEN it fits, with its share of the GPU") {
  CHECK(said_of(steady()) == "FITS · 4 GiB of 16 GiB (25 %) · steady over 60 steps");
  auto unknown = steady();
  unknown.devices.front().facts.total_bytes = 0;
  CHECK(said_of(unknown) == "FITS · 3 GiB at most · steady over 60 steps");
}

TEST_CASE("GIVEN a run that is not over or not settled THEN it fits so far") {
  auto killed = steady();
  killed.completeness.clean_exit = false;
  CHECK(said_of(killed) ==
        "FITS SO FAR · 4 GiB of 16 GiB (25 %) · steady over 60 steps · killed, or still running");
  auto few = steady();
  few.findings.verdicts.front().found.shape = growth::shape::unknown;
  few.findings.verdicts.front().found.evidence.steps = 5;
  CHECK(said_of(few) ==
        "FITS SO FAR · 4 GiB of 16 GiB (25 %) · 5 steps are too few to tell whether it grows");
  auto failed = steady();
  failed.run.exit_status = 1;
  CHECK(said_of(failed) ==
        "FITS SO FAR · 4 GiB of 16 GiB (25 %) · steady over 60 steps · ended with exit status 1");
  auto unknown = steady();
  unknown.run.unknown_sizes = {{"nonzero", "moe.py:25 forward"}, {"index", "moe.py:31 forward"}};
  CHECK(said_of(unknown) ==
        "FITS SO FAR · at least 4 GiB of 16 GiB (25 %) · what moe.py:25 forward (and 1 more) "
        "selects is not known in a dry run · steady over 60 steps");
  // A script without steps has had its say.
  few.findings.verdicts.front().found.evidence.steps = 0;
  CHECK(said_of(few) == "FITS · 4 GiB of 16 GiB (25 %) · no steps were found");
}

TEST_CASE("GIVEN growth THEN the line, who keeps it and how long it goes on") {
  CHECK(said_of(leaking(1.3 * mib)) ==
        "LEAKS · 1.3 MiB a step at train.py:18 · kept by `history` · out of memory in about 6,140 "
        "steps");
}

TEST_CASE("GIVEN growth of host memory alone THEN it is called that") {
  auto process = leaking(1.3 * mib);
  process.findings.verdicts.push_back(process.findings.verdicts.front());
  process.findings.verdicts.front() = steady().findings.verdicts.front();
  auto& host = process.findings.verdicts.back();
  host.about.kind = verdicts::subject_kind::host;
  host.suspects.clear();
  host.limit = verdicts::memory_limit{"the machine's memory", 64 * gib};
  CHECK(
      said_of(process) ==
      "LEAKS · 1.3 MiB a step of host memory · the machine's memory of 64 GiB is reached in about "
      "6,140 steps");
  CHECK_FALSE(run::headline_of(process).device);
}

TEST_CASE("GIVEN a pool that grows alone THEN that the program does not, and the setting") {
  auto process = leaking(1.3 * mib);
  auto& pool = process.findings.verdicts.front();
  pool.about.kind = verdicts::subject_kind::reserved;
  pool.suspects.clear();
  CHECK(said_of(process) ==
        "LEAKS · 1.3 MiB a step of what is reserved · what is allocated does not grow · out of "
        "memory in about 6,140 steps");
  auto& change = process.changes.emplace_back();
  change.id = "expandable_segments";
  change.what = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts";
  change.how = advice::proof::replayed;
  change.saves_bytes = gib;
  CHECK(said_of(process) ==
        "LEAKS · 1.3 MiB a step of what is reserved · what is allocated does not grow · fix "
        "(checked by replay): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True · out of memory in "
        "about 6,140 steps");
}

TEST_CASE("GIVEN a request that failed THEN what was in its way, and what lets it pass") {
  auto process = steady();
  run_out(process, 2 * gib, false);
  SECTION("enough was free, in pieces") {
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 5 GiB were unused, but in pieces");
  }
  SECTION("too little was free") {
    process.ooms.front().facts.totals.reserved = 11 * gib;
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 7 GiB of 10 GiB are activations of "
          "train.py:6");
  }
  SECTION("it had grown until then") {
    auto grown = leaking(1.3 * mib);
    run_out(grown, 2 * gib, false);
    CHECK(said_of(grown) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · grew by 1.3 MiB a step at train.py:18 · "
          "kept by `history`");
    // A setting, or a smaller batch, would get past this request and meet the next one.
    auto& change = grown.changes.emplace_back();
    change.id = "train_batch_half";
    change.mends_out_of_memory = true;
    grown.findings.verdicts.front().suspects.front().fix.emplace().id = "kept_with_graph";
    CHECK(said_of(grown).ends_with(
        "kept by `history` · fix: keep `x.detach()`, or compute it under `no_grad()`"));
  }
  SECTION("what had grown until then is less than the request, and the rest is in pieces") {
    auto grown = leaking(1.3 * mib);
    grown.findings.verdicts.front().suspects.front().bytes = gib + gib / 2;
    run_out(grown, 2 * gib, false);
    CHECK(said_of(grown) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 5 GiB were unused, but in pieces");
  }
  SECTION("what had grown until then is too little to matter") {
    auto grown = leaking(192);
    grown.findings.verdicts.front().suspects.front().bytes = 96 << 10;
    run_out(grown, 2 * gib, false);
    CHECK(said_of(grown) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 5 GiB were unused, but in pieces");
  }
  SECTION("frames of errors that were caught keep what failed") {
    auto& oom = process.ooms.front();
    auto& kept = oom.retained_by.emplace_back();
    kept.path = "errors[…].__traceback__[…]";
    kept.bytes = 8 * gib;
    oom.fix.emplace().id = "kept_error";
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · `errors` keeps 8 GiB in the frames of "
          "errors · "
          "fix: keep `str(error)`, not the error");
  }
  SECTION("a change was proved to let it pass") {
    auto& change = process.changes.emplace_back();
    change.id = "train_batch_half";
    auto& proved = process.changes.emplace_back();
    proved.id = "expandable_segments";
    proved.what = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts";
    proved.mends_out_of_memory = proved.is_settled = true;
    proved.how = advice::proof::replayed;
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 5 GiB were unused, but in pieces · fix "
          "(checked by replay): "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    // Nothing says what follows.
    proved.mends_out_of_memory = proved.is_settled = false;
    proved.gets_past_request = true;
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 5 GiB were unused, but in pieces · gets "
          "past it (checked by replay): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    auto& estimated = process.changes.emplace_back();
    estimated.id = "train_batch_half";
    estimated.mends_out_of_memory = true;
    estimated.how = advice::proof::estimated;
    CHECK(
        said_of(process).ends_with("expandable_segments:True · fix (estimated): half the batch, "
                                   "gradient accumulation 2×"));
  }
  SECTION("a container keeps most of it") {
    process.ooms.front().facts.totals.reserved = 11 * gib;
    auto& held_by = process.ooms.front().retained_by.emplace_back();
    held_by.path = "pool.jobs[…]";
    held_by.container = "list";
    held_by.bytes = 6 * gib;
    CHECK(said_of(process).ends_with(" · kept by `pool.jobs`"));
    held_by.container.clear();
    CHECK_FALSE(said_of(process).ends_with("`"));
  }
  SECTION("the change is about some of the memory, and not about most of it") {
    process.ooms.front().facts.totals.reserved = 11 * gib;
    auto& change = process.changes.emplace_back();
    change.id = "optimizer_fused";
    change.how = advice::proof::estimated;
    change.mends_out_of_memory = true;
    change.about = {2 * gib, "are temporaries of the optimizer's step"};
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 2 GiB of 10 GiB are temporaries of the "
          "optimizer's step · fix (estimated): `fused=True` in the optimizer");
    change.id = "free_earlier";
    change.frames = at(18);
    change.about = {3 * gib, "are not used again"};
    CHECK(said_of(process) ==
          "OUT OF MEMORY · 2 GiB refused at train.py:42 · 3 GiB of 10 GiB are not used "
          "again (train.py:18) · fix (estimated): `del` what is not used again");
  }
}

TEST_CASE("GIVEN a request that failed and was caught THEN the program fits, and that is told") {
  auto process = steady();
  run_out(process, 2 * gib, true);
  CHECK(said_of(process) ==
        "FITS · 4 GiB of 16 GiB (25 %) · steady over 60 steps · 1 request failed, and the program "
        "went on");
}

TEST_CASE("GIVEN growth for which a request failed and was caught THEN no forecast is made") {
  auto process = leaking(1.3 * mib);
  run_out(process, 2 * gib, true);
  for (auto& one : process.findings.verdicts) one.has_been_full = true;
  CHECK(
      said_of(process) ==
      "LEAKS · 1.3 MiB a step at train.py:18 · kept by `history` · memory ran out, and the program "
      "went on");
}

TEST_CASE("GIVEN several processes THEN the one that stands worst speaks for the run") {
  run::run_report ranks{steady(), leaking(1.3 * mib), steady()};
  ranks[2].devices.front().peak_allocated.totals.allocated = 12 * gib;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].run.rank = i;
    ranks[i].answer = run::headline_of(ranks[i]);
  }
  const auto found = run::headline_of(ranks);
  CHECK(found.what == standing::leaks);
  CHECK(found.parts.front() == "rank 1");
  ranks.erase(ranks.begin() + 1);
  CHECK(run::headline_of(ranks).parts.front() == "rank 2");  // the fullest
}

TEST_CASE("GIVEN a program that runs THEN it fits so far, or leaks") {
  const auto frames = [](trace::stack_id stack) {
    return stack ? at(18) : std::vector<code::source_frame>();
  };
  const auto said = [&](const run::process_report& process, bool ran_out) {
    return text_of(run::headline_so_far(
        {0, 4 * gib, 16 * gib, ran_out, &process.findings.verdicts.front()}, frames));
  };
  CHECK(said(steady(), false) == "FITS SO FAR · 4 GiB of 16 GiB (25 %) · steady over 60 steps");
  CHECK(said(leaking(1.3 * mib), false) == said_of(leaking(1.3 * mib)));
  CHECK(
      said(leaking(1.3 * mib), true) ==
      "LEAKS · 1.3 MiB a step at train.py:18 · kept by `history` · memory ran out, and the program "
      "went on");
}

TEST_CASE("GIVEN a process without a device THEN it used no GPU memory") {
  CHECK(said_of({}) == "NO GPU MEMORY · nothing was allocated through PyTorch");
}
