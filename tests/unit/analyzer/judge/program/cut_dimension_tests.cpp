// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/cuts.h"

#include "tests/unit/catch.h"

using memtrace::verdicts::may_shorten;
using memtrace::verdicts::program_text;

TEST_CASE("GIVEN what is joined along one dimension WHEN cut along another THEN it stays as long") {
  CHECK(may_shorten("rows[-n:]", "rows = torch.cat([rows, x])"));
  CHECK(may_shorten("rows[:, -n:]", "rows = torch.cat([rows, f(x, 2)], 1)"));
  CHECK(may_shorten("rows[:, -n:]", "rows = torch.cat((rows, x), dim=1)"));
  CHECK(may_shorten("rows[..., -n:, :]", "rows = torch.cat((rows, x), dim=-2)"));
  CHECK(may_shorten("rows[:, :, -n:]", "rows = torch.cat((rows, x), -1)"));  // of three, or not
  CHECK_FALSE(may_shorten("rows[:, -n:]", "rows = torch.cat([rows, x])"));
  CHECK_FALSE(may_shorten("rows[-n:]", "rows = torch.cat([rows, x], dim=1)"));
  CHECK_FALSE(may_shorten("rows[..., -n:]", "rows = torch.cat([rows, x], dim=-2)"));
}

TEST_CASE("GIVEN lines that do not say along which dimension THEN it may be shortened") {
  CHECK(may_shorten("rows[-n:]", "rows = torch.cat([rows, x], dim)"));
  CHECK(may_shorten("rows[index]", "rows = torch.cat([rows, x])"));
  CHECK(may_shorten("rows[-n:]", "rows.append(x)"));
  CHECK(may_shorten(program_text({"rows.append(x)"}), "rows", "rows[:, -n:]"));
  const program_text by_rows({"joined = torch.cat([self.keys, keys])"});
  CHECK_FALSE(may_shorten(by_rows, "keys", "keys = joined[:, -n:]"));
  CHECK(may_shorten(by_rows, "values", "values[:, -n:]"));
  CHECK(may_shorten(program_text({"joined = torch.cat(heard, 1)"}), "heard", "heard[-n:]"));
}
