// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/program/counted_bound.h"
#include "tests/unit/catch.h"

using memtrace::verdicts::bound_effect;
using memtrace::verdicts::guard_of;
using memtrace::verdicts::program_numbers;
using memtrace::verdicts::program_text;

namespace {

// Whether the last line's guard is known; none: it has none. It has grown in 5 of 20 steps.
[[nodiscard]] std::optional<bool> guard(const std::vector<std::string>& lines) {
  const program_text program(lines);
  const program_numbers numbers(program, "densify_until=60,soon=8");
  const auto found =
      guard_of(program, numbers, bound_effect(program, "kept"), program.size() - 1, 20, 5);
  return found ? std::optional(found->known) : std::nullopt;
}

}  // namespace

TEST_CASE("GIVEN a call under a count that comes to an end THEN it is guarded") {
  CHECK(guard({"for step in range(steps):", "    if step < args.densify_until:",
               "        densify()"}) == true);
  CHECK(guard({"at = 0", "while True:", "    if at < len(unlabelled):", "        at += 1",
               "        label(at)"}) == false);
  CHECK(guard({"for step in range(steps):", "    task = step // 4",
               "    if task + 1 < TASKS:", "        end_task()"}) == false);
  CHECK(guard({"ends = [10, 20, 40]", "for step in range(steps):", "    if step + 1 in ends:",
               "        grow()"}) == false);
}

TEST_CASE("GIVEN a number that rises up to one THEN a call where it changes is guarded") {
  CHECK(guard({"TASKS = 8", "for step in range(steps):", "    task = min(step // 4, TASKS - 1)",
               "    if task != self.task:", "        begin(task)"}) == true);
  CHECK(guard({"for step in range(steps):", "    task = min(step // 4, args.tasks - 1)",
               "    if task != self.task:", "        begin(task)"}) == false);
  // It has changed more often than that.
  CHECK(!guard({"TASKS = 3", "for step in range(steps):", "    task = min(step // 4, TASKS - 1)",
                "    if task != self.task:", "        begin(task)"}));
  // It comes again.
  CHECK(!guard({"for step in range(steps):", "    task = step // 4 % 3",
                "    if task != self.task:", "        begin(task)"}));
}

TEST_CASE("GIVEN the end of the run, or one that has passed THEN nothing guards the call") {
  CHECK(!guard({"for step in range(steps):", "    if step < max_steps:", "        keep()"}));
  CHECK(!guard({"for step in range(count):", "    if step < count:", "        keep()"}));
  CHECK(!guard({"for step in range(steps):", "    if step < args.soon:", "        keep()"}));
  CHECK(!guard({"for step in range(steps):", "    if loss < best:", "        keep()"}));
  CHECK(!guard({"for step in range(steps):", "    if step < args.densify_until or keeps:",
                "        keep()"}));
  CHECK(!guard({"seen = [1]", "for step in range(steps):", "    seen.append(step)",
                "    if step in seen:", "        keep()"}));
  CHECK(!guard({"if step < args.densify_until:", "    densify()", "keep()"}));
}

TEST_CASE("GIVEN a condition that says nothing of an end THEN nothing guards the call") {
  // In every step; of an enumeration's elements; far beyond the run; in both branches.
  const auto often = [](const std::vector<std::string>& lines, std::size_t at) {
    const program_text program(lines);
    const program_numbers numbers(program, "");
    return guard_of(program, numbers, bound_effect(program, "kept"), at, 20, 20).has_value();
  };
  CHECK(
      !often({"for step in range(steps):", "    if step < args.grow_until:", "        keep()"}, 2));
  CHECK(often(
      {"at = 0", "while True:", "    if at < len(rows):", "        at += 1", "        keep()"}, 4));
  CHECK(!often(
      {"CAP = 100000", "for step in range(steps):", "    if step < CAP:", "        keep()"}, 3));
  CHECK(!often({"UNTIL = 60", "for step in range(steps):", "    if step < UNTIL:",
                "        kept.append(x)", "    else:", "        kept.append(y)"},
               3));
  CHECK(!guard({"known = [1, 2]", "for step, domain in enumerate(stream):",
                "    if domain in known:", "        keep()"}));
  CHECK(!guard({"for length in lengths:", "    bucket = min(length // 8, BUCKETS - 1)",
                "    if bucket != self.bucket:", "        begin(bucket)"}));
}
