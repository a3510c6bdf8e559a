// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/column_spool.h"

#include <zstd.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/catch.h"

using namespace memtrace;
using tables::value;
using tables::whole;

namespace {

struct folder {
  folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~folder() { std::filesystem::remove_all(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / "memtrace-column-spool-test").string();

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

template <class Number>
[[nodiscard]] Number number_at(const std::string& bytes, std::size_t at) {
  Number made;
  REQUIRE(at + sizeof made <= bytes.size());
  std::memcpy(&made, bytes.data() + at, sizeof made);
  return made;
}

[[nodiscard]] nlohmann::json table_of(const folder& from, const std::string& name) {
  const auto list = nlohmann::json::parse(from.read("tables.json"));
  for (const auto& one : list["tables"]) {
    if (one["name"] == name) return one;
  }
  FAIL(name);
  return {};
}

}  // namespace

TEST_CASE("GIVEN rows WHEN they are written THEN a batch is columns as Arrow has them") {
  const folder made;
  tables::column_spool to(made.path);
  to.add(tables::frames,
         std::array<value, 6>{whole(1), "a.py", whole(-7), "forward", whole(1), ""});
  to.add(tables::frames,
         std::array<value, 6>{whole(2), "b.py", value(), "forward", whole(0), value()});
  to.add(tables::frames, std::array<value, 6>{whole(3), "a.py", whole(9), value(), whole(1), "x"});
  REQUIRE_FALSE(to.finish());

  const auto table = table_of(made, "frames");
  REQUIRE(table["batches"].size() == 1);
  const auto batch = table["batches"][0];
  CHECK(batch[0] == 0);
  CHECK(batch[3] == 3);
  const auto compressed = made.read("frames.columns");
  REQUIRE(batch[1] == compressed.size());
  std::string bytes(batch[2].get<std::size_t>(), '\0');
  REQUIRE(ZSTD_decompress(bytes.data(), bytes.size(), compressed.data(), compressed.size()) ==
          bytes.size());
  // frame: 8 of bits and 24; file: 8 and 12, padded to 16; line_number: 8 and 24; …
  CHECK(number_at<std::uint64_t>(bytes, 0) == 0b111);
  CHECK(number_at<std::int64_t>(bytes, 8 + 16) == 3);
  CHECK(number_at<std::uint64_t>(bytes, 32) == 0b111);
  CHECK(number_at<std::int32_t>(bytes, 40) == 0);
  CHECK(number_at<std::int32_t>(bytes, 44) == 1);
  CHECK(number_at<std::int32_t>(bytes, 48) == 0);
  CHECK(number_at<std::uint64_t>(bytes, 56) == 0b101);
  CHECK(number_at<std::int64_t>(bytes, 64) == -7);
  CHECK(number_at<std::uint64_t>(bytes, 88) == 0b011);   // function_name
  CHECK(number_at<std::uint64_t>(bytes, 144) == 0b101);  // line: an empty text is a text
  CHECK(bytes.size() == 144 + 8 + 16);
  CHECK(table["columns"][1]["texts"] == nlohmann::json({"a.py", "b.py"}));
  CHECK(table["columns"][3]["texts"] == nlohmann::json({"forward"}));
  CHECK(table["columns"][2]["type"] == "integer");
}

TEST_CASE("GIVEN more rows than a batch has WHEN they are written THEN there are several") {
  const folder made;
  tables::column_spool to(made.path);
  constexpr auto rows = tables::column_spool::rows_in_a_batch * 2 + 1;
  for (std::size_t i = 0; i < rows; ++i) {
    to.add(tables::stacks, std::array<value, 4>{whole(i), value(), whole(i), whole(1)});
  }
  REQUIRE_FALSE(to.finish());
  const auto batches = table_of(made, "stacks")["batches"];
  REQUIRE(batches.size() == 3);
  CHECK(batches[2][3] == 1);
  CHECK(batches[1][0] == batches[0][1]);
  CHECK(table_of(made, "events")["batches"].empty());
}

TEST_CASE("GIVEN a real WHEN it is written THEN it keeps every bit") {
  const folder made;
  tables::column_spool to(made.path);
  std::vector<value> row(tables::verdicts.columns.size());
  row[6] = 0.1;
  REQUIRE(tables::verdicts.columns[6].name == "bytes_per_step");
  to.add(tables::verdicts, row);
  REQUIRE_FALSE(to.finish());
  const auto compressed = made.read("verdicts.columns");
  std::string bytes(table_of(made, "verdicts")["batches"][0][2].get<std::size_t>(), '\0');
  REQUIRE(ZSTD_decompress(bytes.data(), bytes.size(), compressed.data(), compressed.size()) ==
          bytes.size());
  CHECK(number_at<double>(bytes, 6 * 16 + 8) == 0.1);
}

TEST_CASE("GIVEN no folder WHEN rows are written THEN a sentence says so") {
  tables::column_spool to("/no/such/folder");
  to.add(tables::stacks, std::array<value, 4>{whole(1), value(), whole(1), whole(1)});
  const auto problem = to.finish();
  REQUIRE(problem);
  CHECK(*problem ==
        "/no/such/folder: No such file or directory; free some space, or name a folder on another "
        "disk");
}
