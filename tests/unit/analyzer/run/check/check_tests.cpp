// SPDX-License-Identifier: Apache-2.0
//
// A run against its limits: what holds, what is broken, what cannot be told; and how that is
// written for CI.
#include <string>
#include <vector>

#include "analyzer/run/check/findings.h"
#include "analyzer/run/check/sizes.h"
#include "analyzer/run/check/text.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using check::outcome;

namespace {

constexpr std::uint64_t mib = 1 << 20;

[[nodiscard]] run::call_site site(std::string file, std::uint32_t line, std::uint64_t bytes) {
  run::call_site made;
  made.frames = {{"/lib/python3/site-packages/torch/nn/linear.py", 7, "forward", false},
                 {std::move(file), line, "main", true}};
  made.bytes = bytes;
  return made;
}

void add_device(run::process_report& to, std::uint32_t index, std::uint64_t allocated,
                std::uint64_t reserved) {
  auto& device = to.devices.emplace_back();
  device.facts.device = index;
  device.peak_allocated.totals.allocated = allocated;
  device.peak_reserved.totals.reserved = reserved;
  device.at_peak.sites = {site("/srv/train.py", 31, allocated / 4),
                          site("/srv/train.py", 31, allocated / 4),
                          site("/srv/train.py", 9, allocated / 3)};
  auto& verdict = to.findings.verdicts.emplace_back();
  verdict.about.device = index;
  verdict.found.shape = growth::shape::steady;
}

[[nodiscard]] run::run_report run_of(std::uint64_t allocated, std::uint64_t reserved) {
  run::run_report run(1);
  run[0].completeness.clean_exit = true;
  add_device(run[0], 0, allocated, reserved);
  return run;
}

[[nodiscard]] check::limits peak_limit(std::uint64_t bytes) {
  check::limits wanted;
  wanted.max_peak = bytes;
  return wanted;
}

[[nodiscard]] outcome of_peak(const run::run_report& run, std::uint64_t limit) {
  return check::worst(check::judge(run, peak_limit(limit)));
}

[[nodiscard]] outcome of_leaks(const run::run_report& run) {
  check::limits wanted;
  wanted.no_leaks = true;
  return check::worst(check::judge(run, wanted));
}

[[nodiscard]] outcome of_growth(const run::run_report& before, const run::run_report& now,
                                check::tolerance allowed) {
  check::limits wanted;
  wanted.against = &before;
  wanted.tolerance = allowed;
  return check::worst(check::judge(now, wanted));
}

}  // namespace

TEST_CASE("percents have tenths where they are few, and never an exponent") {
  CHECK(memtrace::check::percent_in_words(24, 1000) == "2.4 %");
  CHECK(memtrace::check::percent_in_words(997, 10'000) == "10 %");
  CHECK(memtrace::check::percent_in_words(1396, 1000) == "140 %");
}

TEST_CASE("A limit needs a unit, a tolerance a unit or a percent sign") {
  CHECK(check::parse_limit("20GiB") == 20ULL << 30);
  CHECK(check::parse_limit("20 GB") == 20'000'000'000);
  CHECK(check::parse_limit("17B") == 17U);
  for (const auto* const text : {"", "20", "20.5", " ", "20%", "many", "-1GiB"}) {
    CAPTURE(text);
    CHECK_FALSE(check::parse_limit(text));
  }
  CHECK(check::parse_tolerance("2%")->most(1000) == 1020);
  CHECK(check::parse_tolerance("0.5 %")->most(1000) == 1005);
  CHECK(check::parse_tolerance("0%")->most(1000) == 1000);
  CHECK(check::parse_tolerance("64B")->most(1000) == 1064);
  for (const auto* const text : {"", "2", "%", "-2%", "two%", ".%", "1.2.3%", "2000%"}) {
    CAPTURE(text);
    CHECK_FALSE(check::parse_tolerance(text));
  }
}

TEST_CASE("GIVEN a peak WHEN the limit is just that THEN it holds, and one byte less breaks") {
  const auto run = run_of(100 * mib, 128 * mib);
  CHECK(of_peak(run, 100 * mib) == outcome::ok);
  CHECK(of_peak(run, 100 * mib - 1) == outcome::broken);
  const auto found = check::judge(run, peak_limit(80 * mib));
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].line);
  CHECK(found[0].line->where.line == 31);  // two sites of 25 MiB against one of 33
  CHECK(found[0].line->bytes == 50 * mib);
  CHECK(check::to_text(found, "/srv/") ==
        "broken  max-peak device 0: 100 MiB allocated at the peak, limit 80 MiB: 20 MiB "
        "(25 %) beyond; the largest line is train.py:31 main with 50 MiB\n");
}

TEST_CASE("GIVEN a recording that lacks something THEN what is not broken cannot be told") {
  auto run = run_of(100 * mib, 128 * mib);
  auto& facts = run[0].completeness;
  const auto what_is_beyond_alone_is_known = [&] {
    CHECK(of_peak(run, 99 * mib) == outcome::broken);
    CHECK(of_peak(run, 200 * mib) == outcome::unknown);
  };
  SECTION("killed") {
    facts.clean_exit = false;
    what_is_beyond_alone_is_known();
  }
  SECTION("cut off") {
    facts.truncated = true;
    what_is_beyond_alone_is_known();
  }
  SECTION("events dropped") {
    facts.dropped_events = 3;
    what_is_beyond_alone_is_known();
  }
  SECTION("out of memory") {
    run[0].ooms.emplace_back().facts.caught = false;
    what_is_beyond_alone_is_known();
  }
}

TEST_CASE("GIVEN reserved memory that was not recorded THEN a limit on it cannot be told") {
  auto run = run_of(100 * mib, 0);
  run[0].devices[0].from_cuda_calls = true;
  check::limits wanted;
  wanted.max_reserved = 200 * mib;
  CHECK(check::worst(check::judge(run, wanted)) == outcome::unknown);
  CHECK(of_peak(run, 200 * mib) == outcome::ok);
}

TEST_CASE("GIVEN devices that were not used THEN they are not checked") {
  auto run = run_of(100 * mib, 128 * mib);
  add_device(run[0], 1, 0, 0);
  CHECK(check::judge(run, peak_limit(mib)).size() == 1);
  CHECK(check::judge(run_of(0, 0), peak_limit(mib)).empty());
  add_device(run[0], 2, 1, 1);
  CHECK(check::judge(run, peak_limit(mib)).size() == 2);
}

TEST_CASE("GIVEN a run before WHEN peaks grew THEN by no more than the tolerance") {
  const auto before = run_of(100 * mib, 100 * mib);
  CHECK(of_growth(before, run_of(102 * mib, 102 * mib), {0, 2}) == outcome::ok);
  CHECK(of_growth(before, run_of(102 * mib + 1, 102 * mib), {0, 2}) == outcome::broken);
  CHECK(of_growth(before, run_of(102 * mib, 102 * mib + 1), {0, 2}) == outcome::broken);
  CHECK(of_growth(before, run_of(101 * mib, 101 * mib), {mib, 0}) == outcome::ok);
  CHECK(of_growth(before, run_of(50 * mib, 50 * mib), {}) == outcome::ok);
}

TEST_CASE("GIVEN a run before that lacks something THEN only what grew is in doubt") {
  auto before = run_of(100 * mib, 100 * mib);
  before[0].completeness.truncated = true;
  CHECK(of_growth(before, run_of(100 * mib, 100 * mib), {}) == outcome::ok);
  CHECK(of_growth(before, run_of(200 * mib, 100 * mib), {}) == outcome::unknown);
  auto other = run_of(1, 1);
  other[0].devices[0].facts.device = 1;
  CHECK(of_growth(other, run_of(1, 1), {}) == outcome::unknown);
}

TEST_CASE("GIVEN ranks THEN each goes with its own of the run before") {
  auto before = run_of(100 * mib, 100 * mib);
  before.push_back(run_of(300 * mib, 300 * mib)[0]);
  auto now = before;
  for (auto* const run : {&before, &now}) {
    (*run)[0].run.rank = 0;
    (*run)[1].run.rank = 1;
  }
  CHECK(of_growth(before, now, {}) == outcome::ok);
  std::swap(now[0].run.rank, now[1].run.rank);
  CHECK(of_growth(before, now, {}) == outcome::broken);
  now[0].run.rank.reset();
  CHECK(check::judge(now, peak_limit(mib))[1].who == "rank 0 device 0");
}

TEST_CASE("GIVEN a verdict WHEN no leak is wanted THEN its shape decides") {
  using growth::shape;
  auto run = run_of(mib, mib);
  auto& found = run[0].findings.verdicts[0].found;
  for (const auto leak : {shape::accumulating, shape::stepwise, shape::sawtooth_leak}) {
    found.shape = leak;
    CHECK(of_leaks(run) == outcome::broken);
  }
  for (const auto fine :
       {shape::sawtooth, shape::bounded_records, shape::warmup_plateau, shape::steady}) {
    found.shape = fine;
    CHECK(of_leaks(run) == outcome::ok);
  }
  found.shape = shape::accumulating;
  found.negligible = true;
  CHECK(of_leaks(run) == outcome::ok);
  found.shape = shape::unknown;
  found.evidence.steps = 5;
  found.more_steps_needed = 7;
  check::limits wanted;
  wanted.no_leaks = true;
  CHECK(check::to_text(check::judge(run, wanted), {}) ==
        "unknown no-leaks device 0: 5 steps are too few to tell; at least 12 are needed, so let it "
        "run for 7 more\n");
}

TEST_CASE("GIVEN a host that leaks THEN it breaks, and one of too few samples does not") {
  auto run = run_of(mib, mib);
  auto& host = run[0].findings.verdicts.emplace_back();
  host.about.kind = verdicts::subject_kind::host;
  CHECK(of_leaks(run) == outcome::ok);
  host.found.shape = growth::shape::accumulating;
  CHECK(of_leaks(run) == outcome::broken);
}

TEST_CASE(
    "GIVEN growth that is expected THEN it is told and breaks nothing, but for what is left") {
  auto run = run_of(mib, mib);
  auto& device = run[0].findings.verdicts.front();
  device.found.shape = growth::shape::accumulating;
  device.summary = "it grows; expected: plotted (said at train.py:12)";
  device.expected.emplace();
  CHECK(of_leaks(run) == outcome::broken);
  device.expected->is_all = true;
  CHECK(of_leaks(run) == outcome::ok);
  check::limits wanted;
  wanted.no_leaks = true;
  CHECK(check::judge(run, wanted).front().sentence == device.summary);
  // What is lost from a trace may have been something else.
  run[0].completeness.dropped_events = 7;
  CHECK(of_leaks(run) == outcome::unknown);
  run[0].completeness.dropped_events = 0;
  device.found.shape = growth::shape::unknown;
  CHECK(of_leaks(run) == outcome::ok);
  // One that is told only where it grows is told here, too.
  auto& phase = run[0].findings.verdicts.emplace_back();
  phase.about.kind = verdicts::subject_kind::phase;
  phase.found.shape = growth::shape::accumulating;
  phase.expected = run[0].findings.verdicts.front().expected;
  CHECK(check::judge(run, wanted).size() == 2);
  CHECK(of_leaks(run) == outcome::ok);
}

TEST_CASE("XML has its own way to write what has a meaning in it, and none for the rest") {
  CHECK(check::xml_escaped("a<b> & \"c\"\n\t") == "a&lt;b&gt; &amp; &quot;c&quot;&#10;&#9;");
  CHECK(check::xml_escaped(std::string("\x00\x1b", 2)) == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(check::xml_escaped("\xff\xEF\xBF\xBF") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("GitHub's commands are one line each, whatever is in them") {
  CHECK(check::github_message("50 %: a, b\r\n") == "50 %25: a, b%0D%0A");
  CHECK(check::github_property("a:b,c%\n") == "a%3Ab%2Cc%25%0A");
  auto run = run_of(100 * mib, 0);
  for (auto& one : run[0].devices[0].at_peak.sites) one.frames.back().file = "/srv/a,b\n/train.py";
  CHECK(check::to_github(check::judge(run, peak_limit(mib)), "/srv")
            .starts_with("::error file=a%2Cb%0A/train.py,line=31,title="));
}

TEST_CASE("A file is named from a folder that it lies below") {
  CHECK(check::below("/srv/", "/srv/a/b.py") == "a/b.py");
  CHECK(check::below("/srv", "/srvs/b.py") == "/srvs/b.py");
  CHECK(check::below("", "/srv/b.py") == "/srv/b.py");
  CHECK(check::below("/", "/b.py") == "/b.py");
}
