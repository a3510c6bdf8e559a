// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/sqlite_sink.h"

#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace;
using tables::value;
using tables::whole;

namespace {

class file {
 public:
  file() { std::filesystem::remove(path); }
  ~file() { std::filesystem::remove(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / "memtrace-sqlite-sink-test.db").string();

  // Cells as text; "NULL" for nothing.
  [[nodiscard]] std::vector<std::string> ask(const std::string& query) const {
    sqlite3* open = nullptr;
    REQUIRE(sqlite3_open_v2(path.c_str(), &open, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    std::vector<std::string> cells;
    const auto take = [](void* to, int count, char** values, char**) {
      for (int i = 0; i < count; ++i) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(values[i] ? values[i] : "NULL");
      }
      return 0;
    };
    char* problem = nullptr;
    const int outcome = sqlite3_exec(open, query.c_str(), take, &cells, &problem);
    INFO(query << ": " << (problem ? problem : ""));
    REQUIRE(outcome == SQLITE_OK);
    sqlite3_close(open);
    return cells;
  }
};

using strings = std::vector<std::string>;

// A row of process 0, with what the views need.
[[nodiscard]] std::vector<value> block(std::int64_t address, std::int64_t bytes,
                                       std::int64_t allocated, value freed, std::string_view what) {
  std::vector<value> row(tables::blocks.columns.size());
  const auto set = [&](std::string_view name, const value& to) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (tables::blocks.columns[i].name == name) row[i] = to;
    }
  };
  set("process", whole(0));
  set("pid", whole(4711));
  set("device", whole(0));
  set("address", whole(address));
  set("block_bytes", whole(bytes));
  set("allocated_event", whole(allocated));
  set("freed_event", freed);
  set("category", what);
  return row;
}

[[nodiscard]] std::vector<value> device(std::int64_t peak_event, std::int64_t unrecorded) {
  std::vector<value> row(tables::devices.columns.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto name = tables::devices.columns[i].name;
    if (name == "process" || name == "device") row[i] = whole(0);
    if (name == "pid") row[i] = whole(4711);
    if (name == "peak_allocated_event") row[i] = whole(peak_event);
    if (name == "peak_unrecorded_bytes") row[i] = whole(unrecorded);
  }
  return row;
}

}  // namespace

TEST_CASE(
    "GIVEN no rows WHEN a database is made THEN it says what it is and what its columns are") {
  const file made;
  REQUIRE_FALSE(tables::sqlite_sink(made.path, "1.2'3").finish());
  CHECK(made.ask("PRAGMA user_version") == strings{"1"});
  CHECK(made.ask("PRAGMA application_id") == strings{std::to_string(0x6d747263)});
  CHECK(made.ask("SELECT * FROM made_by") == strings{"memtrace", "1.2'3"});
  CHECK(made.ask("PRAGMA integrity_check") == strings{"ok"});
  std::size_t columns = 0;
  for (const auto* const one : tables::all_tables()) {
    const std::string name(one->name);
    strings told, wanted;
    for (const auto& column : one->columns) wanted.emplace_back(column.name);
    CHECK(made.ask("SELECT name FROM pragma_table_info('" + name + "')") == wanted);
    CHECK(made.ask("SELECT column_name FROM schema_columns WHERE table_name = '" + name + "'") ==
          wanted);
    columns += wanted.size();
  }
  CHECK(columns > 150);
}

TEST_CASE("GIVEN no rows WHEN a view is asked THEN it answers with none") {
  const file made;
  REQUIRE_FALSE(tables::sqlite_sink(made.path, "").finish());
  const auto views = made.ask("SELECT name FROM sqlite_schema WHERE type = 'view'");
  CHECK(views.size() >= 13);
  for (const auto& name : views) CHECK(made.ask("SELECT * FROM " + name).empty());
}

TEST_CASE("GIVEN texts and numbers of any kind WHEN they are read back THEN they are the same") {
  const file made;
  tables::sqlite_sink to(made.path, "");
  to.add(tables::frames, std::array<value, 6>{whole(1), "a'b\"c.py", whole(-7), "", value(), "é"});
  to.add(tables::stacks, std::array<value, 4>{whole(1), value(), whole(1), whole(1)});
  REQUIRE_FALSE(to.finish());
  CHECK(made.ask("SELECT * FROM frames") == strings{"1", "a'b\"c.py", "-7", "", "NULL", "é"});
  CHECK(made.ask("SELECT typeof(function_name), typeof(is_user), typeof(frame) FROM frames") ==
        strings{"text", "null", "integer"});
}

TEST_CASE(
    "GIVEN rows that are alike WHEN they are written THEN what they have in common is kept once") {
  const file made;
  tables::sqlite_sink to(made.path, "");
  for (int i = 0; i < 30'000; ++i) {
    to.add(tables::blocks, block(i, 512, i, {}, i % 2 == 0 ? "weights" : "activations"));
  }
  to.add(tables::blocks, block(7, 512, 30'000, {}, "weights"));
  REQUIRE_FALSE(to.finish());
  CHECK(made.ask("SELECT count(*) FROM blocks_common") == strings{"2"});
  CHECK(made.ask("SELECT category, pid, count(*), sum(address) FROM blocks GROUP BY category") ==
        strings{"activations", "4711", "15000", "225000000", "weights", "4711", "15001",
                "224985007"});
}

TEST_CASE(
    "GIVEN blocks around a moment WHEN its views are asked THEN they take what lives right after "
    "its event") {
  const file made;
  tables::sqlite_sink to(made.path, "");
  to.add(tables::devices, device(20, 100));
  to.add(tables::blocks, block(1, 1000, 10, whole(20), "weights"));    // freed by the peak's event
  to.add(tables::blocks, block(2, 2000, 20, whole(21), "gradients"));  // made by it
  to.add(tables::blocks, block(3, 4000, 5, {}, "weights"));
  to.add(tables::blocks, block(4, 8000, 21, {}, "weights"));  // later
  auto changes = block(5, 16'000, 6, whole(30), "outputs");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto name = tables::blocks.columns[i].name;
    if (name == "category_before") changes[i] = "activations";
    if (name == "category_since_event") changes[i] = whole(21);
  }
  to.add(tables::blocks, changes);
  REQUIRE_FALSE(to.finish());
  CHECK(made.ask("SELECT category, bytes, blocks FROM peak_by_category") ==
        strings{"activations", "16000", "1", "weights", "4000", "1", "gradients", "2000", "1",
                "unknown", "100", "0"});
  CHECK(made.ask("SELECT address, category_then FROM live_blocks ORDER BY address") ==
        strings{"2", "gradients", "3", "weights", "5", "activations"});
  CHECK(made.ask("SELECT bytes, blocks FROM never_freed") == strings{"12000", "2"});
  CHECK(made.ask("SELECT block_bytes FROM largest_blocks LIMIT 2") == strings{"16000", "8000"});
}

TEST_CASE("GIVEN no folder WHEN a database is made THEN a sentence says so") {
  tables::sqlite_sink to("/no/such/folder/run.db", "");
  to.add(tables::blocks, block(1, 1, 1, {}, "weights"));
  const auto problem = to.finish();
  REQUIRE(problem);
  CHECK(*problem == "SQLite says: unable to open database file; name a file on another disk");
}
