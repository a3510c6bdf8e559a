// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/other_names.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::apart_from_others;
using memtrace::verdicts::program_text;

namespace {

[[nodiscard]] std::string last_line(const std::vector<std::string>& lines, const char* variable,
                                    const char* holder) {
  const auto apart = apart_from_others(program_text(lines), variable, holder);
  return apart.at(apart.size() - 1);
}

}  // namespace

TEST_CASE("what is done to another object of the class is not done to this one") {
  const auto of = [](const char* last) {
    return last_line({"run, phase = Meter(), Meter()", last}, "run.values", "Meter");
  };
  CHECK(of("phase.reset()") == "another_phase.another_reset()");
  CHECK(of("run.reset()") == "run.reset()");
  CHECK(of("phases.reset()") == "phases.reset()");
  // Nobody knows whose it is.
  CHECK(of("meter.reset()") == "meter.reset()");
  CHECK(last_line({"run = Meter()", "log = Log()", "log.reset()"}, "run.values", "Meter") ==
        "log.reset()");
}

TEST_CASE("an attribute of a class that makes its own is another one") {
  const auto of = [](const char* made, const char* holder, const char* bases = "") {
    return last_line({"class Recorder" + std::string(bases) + ":",
                      "    def add(self, x):", "        self.items.append(x)", "class Queue:",
                      "    def __init__(self):", std::string("        self.items = ") + made,
                      "    def drain(self):", "        self.items.pop(0)"},
                     "recorder.items", holder);
  };
  CHECK(of("[]", "Recorder") == "self.another_items.pop(0)");
  CHECK(of("recorder.items", "Recorder") == "self.items.pop(0)");  // it is handed it
  CHECK(of("[]", "Queue") == "self.items.pop(0)");
  CHECK(of("[]", "Recorder", "(Queue)") == "self.items.pop(0)");
  CHECK(of("[]", "") == "self.items.pop(0)");
  CHECK(of("[]", "Elsewhere") == "self.items.pop(0)");
  CHECK(last_line({"class Queue:", "    def __init__(self):", "        self.items = []"},
                  "recorders[…].items", "Recorder") == "self.items = []");
}

// A pattern with a repetition in a repetition tries each way to divide the letters, and never ends.
TEST_CASE("a line of long names that gives nothing is read to its end") {
  const std::string line = "return a_long_name_of_a_thing, another_long_name_of_a_thing, Meter";
  const auto apart =
      apart_from_others(program_text({"run = Meter()", line}), "run.values", "Meter");
  CHECK(apart.at(1) == line);
}
