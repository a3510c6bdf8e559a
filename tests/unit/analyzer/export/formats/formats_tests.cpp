// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/export/formats/proto.h"
#include "tests/unit/analyzer/export/formats/told.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using test::made_up_training;
using test::opened_trace;

namespace {

class in_memory final : public exporting::destination {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  [[nodiscard]] bool failed() const override { return false; }
  [[nodiscard]] const std::string& path() const override { return path_; }
  std::string text;

 private:
  std::string path_;
};

[[nodiscard]] std::string exported(std::string_view format, const exporting::chosen& wanted = {},
                                   std::size_t top = 0) {
  const made_up_training run(5);
  opened_trace trace(run.trace);
  in_memory to;
  const auto sink =
      exporting::format_named(format)->make(to, {.top = top, .version = "1", .processes = 1});
  REQUIRE_FALSE(trace.tell(*sink, wanted).problem);
  REQUIRE_FALSE(sink->finish());
  return to.text;
}

}  // namespace

TEST_CASE(
    "GIVEN the formats WHEN they are listed THEN each has a name and an extension of its own") {
  REQUIRE_FALSE(exporting::formats().empty());
  std::set<std::string_view> names;
  std::set<std::string_view> extensions;
  for (const auto& row : exporting::formats()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(extensions.insert(row.extension).second);
    CHECK_FALSE(row.what.empty());
    CHECK_FALSE(row.open_with.empty());
    CHECK(row.make != nullptr);
    CHECK(exporting::format_named(row.name) == &row);
    CHECK(exporting::format_names().find(row.name) != std::string::npos);
  }
  CHECK(exporting::format_named("nothing") == nullptr);
}

TEST_CASE("GIVEN one run WHEN it is exported twice THEN the files are equal") {
  for (const auto* const format : {"perfetto", "pprof", "speedscope"}) {
    CAPTURE(format);
    const auto once = exported(format);
    CHECK_FALSE(once.empty());
    CHECK(once == exported(format));
  }
}

TEST_CASE("GIVEN more stacks than asked for WHEN speedscope is made THEN the rest is one row") {
  const auto all = nlohmann::json::parse(exported("speedscope"));
  const auto one = nlohmann::json::parse(exported("speedscope", {}, 1));
  REQUIRE(all["profiles"].size() == 1);
  const auto sum = [](const nlohmann::json& document) {
    std::uint64_t bytes = 0;
    for (const auto& weight : document["profiles"][0]["weights"])
      bytes += weight.get<std::uint64_t>();
    return bytes;
  };
  CHECK(sum(all) == all["profiles"][0]["endValue"].get<std::uint64_t>());
  CHECK(sum(one) == sum(all));
  REQUIRE(all["profiles"][0]["samples"].size() > 2);
  const auto folded = one.dump().find("smaller stacks");
  CHECK(folded != std::string::npos);
  CHECK(all.dump().find("smaller stacks") == std::string::npos);
}

TEST_CASE("GIVEN numbers WHEN they are written as varints THEN as the format's own examples") {
  // From the description of the encoding: field 1 is 150; field 2 is the text "testing".
  CHECK(exporting::proto().number(1, 150).bytes() == "\x08\x96\x01");
  CHECK(exporting::proto().text(2, "testing").bytes() == "\x12\x07testing");
  CHECK(exporting::proto().message(3, exporting::proto().number(1, 150)).bytes() ==
        "\x1a\x03\x08\x96\x01");
  CHECK(exporting::proto().integer(1, -2).bytes() ==
        "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}
