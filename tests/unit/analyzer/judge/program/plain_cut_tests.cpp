// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/cuts.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::program_text;

namespace {

// As the text has it, in which all cuts are written so.
[[nodiscard]] std::string plain(const std::string& line) {
  return program_text({line}).at(0);
}

[[nodiscard]] std::string last_of(const std::vector<std::string>& lines) {
  const program_text program(lines);
  return program.at(program.size() - 1);
}

}  // namespace

TEST_CASE("GIVEN the last n of something THEN it is written as one cut") {
  CHECK(plain("x = x[..., max(0, x.shape[-1] - self.context):]") == "x = x[..., -self.context:]");
  CHECK(plain("x = x[max(len(x) - 40, 0):]") == "x = x[-40:]");
  CHECK(plain("x = x[:, x.size(1) - n:]") == "x = x[:, -n:]");
  CHECK(plain("x = x[len(x) + new - n:]") == "x = x[-n:]");
  CHECK(plain("del rows[:len(rows) - n]") == "del rows[:-n]");
  CHECK(plain("k = k.narrow(1, k.size(1) - n, n)") == "k = k[:, -n:]");
  CHECK(plain("k = k.narrow(-2, -n, n)") == "k = k[..., -n:, :]");
}

TEST_CASE("GIVEN a start that has a name THEN what it was given last in its function counts") {
  CHECK(last_of({"def keep(self, rows):", "    end = len(rows)",
                 "    begin = max(0, end - self.length)", "    return rows[begin:end]"}) ==
        "return rows[-self.length:]");
  CHECK(last_of({"def keep(self, rows, old, new):", "    begin = old.size(0) + new - self.length",
                 "    begin = begin if begin > 0 else 0", "    return rows[begin:]"}) ==
        "return rows[-self.length:]");
  CHECK(last_of({"def keep(self, rows, old):", "    begin = old - n if old > n else 0",
                 "    return rows[begin:]"}) == "return rows[-n:]");
  // Of another function.
  CHECK(last_of({"def other(self):", "    begin = max(0, end - n)",
                 "def keep(self, rows):", "    return rows[begin:]"}) == "return rows[begin:]");
}

TEST_CASE("GIVEN any other slice THEN it stays as it is") {
  CHECK(plain("x = x[2:]") == "x = x[2:]");
  CHECK(plain("x = x[n - 1:]") == "x = x[n - 1:]");
  CHECK(plain("x = x[:n]") == "x = x[:n]");
  CHECK(plain("k = k.narrow(1, 0, n)") == "k = k.narrow(1, 0, n)");
  CHECK(plain("k = k.narrow(1, k.size(1) - n, m)") == "k = k.narrow(1, k.size(1) - n, m)");
  CHECK(plain("made = {key: rows[a] for key, rows in x}") ==
        "made = {key: rows[a] for key, rows in x}");
}
