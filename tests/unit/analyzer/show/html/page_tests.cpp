// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/run/model/changes.h"
#include "analyzer/show/html/columns.h"
#include "analyzer/show/html/facts.h"
#include "analyzer/show/html/page.h"
#include "analyzer/show/html/template.h"
#include "analyzer/show/json/report.h"
#include "tests/unit/catch.h"

namespace html = memtrace::html;

namespace {

// A decoder of its own: what the page's script does.
[[nodiscard]] std::vector<unsigned char> bytes_of(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> made;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(letters.find(letter));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    made.push_back(static_cast<unsigned char>(group >> bits));
  }
  return made;
}

template <class Number>
void read_all(const unsigned char* from, std::size_t count, std::vector<double>& to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, from + i * sizeof number, sizeof number);
    to.push_back(static_cast<double>(number));
  }
}

[[nodiscard]] std::vector<double> read_back(const html::column_writer& columns,
                                            const std::string& name) {
  const auto directory = columns.directory();
  std::vector<unsigned char> raw(directory["bytes"].get<std::size_t>());
  const auto packed = bytes_of(columns.packed());
  auto size = static_cast<uLongf>(raw.size());
  REQUIRE(::uncompress(raw.data(), &size, packed.data(), packed.size()) == Z_OK);
  REQUIRE(size == raw.size());
  for (const auto& place : directory["list"]) {
    if (place["name"] != name) continue;
    const auto offset = place["offset"].get<std::size_t>();
    const auto count = place["count"].get<std::size_t>();
    CHECK(offset % 8 == 0);
    std::vector<double> values;
    const auto type = place["type"].get<std::string>();
    if (type == "u8") read_all<std::uint8_t>(raw.data() + offset, count, values);
    if (type == "u16") read_all<std::uint16_t>(raw.data() + offset, count, values);
    if (type == "u32") read_all<std::uint32_t>(raw.data() + offset, count, values);
    if (type == "f64") read_all<double>(raw.data() + offset, count, values);
    REQUIRE(values.size() == count);
    double sum = 0;
    for (auto& value : values) {
      sum = place["delta"].get<bool>() ? sum + value : value;
      value = place["base"].get<double>() + sum * place["scale"].get<double>();
    }
    return values;
  }
  FAIL("there is no column " << name);
  return {};
}

[[nodiscard]] nlohmann::ordered_json facts_of(const std::string& page) {
  const std::string begin = "id=\"memtrace-facts\">";
  const auto from = page.find(begin) + begin.size();
  return nlohmann::ordered_json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace

TEST_CASE(
    "GIVEN advice and a leak WHEN a page is made THEN it has the report and the words for it") {
  memtrace::run::run_report run(1);
  auto& process = run.front();
  memtrace::advice::piece piece;
  piece.what.id = "lora";
  process.advice.pieces = {piece};
  memtrace::advice::combination together;
  together.ids = {"lora", "an_id_of_tomorrow"};
  process.advice.combined = {together};
  process.changes = memtrace::run::changes_of(process);

  const auto facts = facts_of(html::report_page(run, {}));
  CHECK(facts["report"] == memtrace::as_json::to_json(run));
  CHECK(facts["advice_words"]["lora"] == "LoRA adapters");
  CHECK(facts["advice_words"]["an_id_of_tomorrow"] == "an id of tomorrow");
  CHECK(facts["shapes"].size() == 8);
  CHECK(facts["shapes"]["stepwise"] == "grows by jumps");
  CHECK(facts["shapes"]["warmup_plateau"] == "warmup plateau");
}

TEST_CASE("GIVEN numbers of any size WHEN a page holds them THEN they are read back exactly") {
  const std::vector<std::vector<std::uint64_t>> all{
      {},
      {0},
      {7, 7, 7},
      {1, 2, 300, 70'000, 5'000'000'000},
      {512, 1024, 20ull << 30, 512},
      {3, 1, 2},
      {1ull << 47, (1ull << 47) + 512, 1ull << 46},
      {std::uint64_t{1} << 52, 0, 1},
  };
  html::column_writer columns;
  for (std::size_t i = 0; i < all.size(); ++i) columns.add(std::to_string(i), all[i]);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("column " << i);
    const auto found = read_back(columns, std::to_string(i));
    REQUIRE(found.size() == all[i].size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      CHECK(found[k] == static_cast<double>(all[i][k]));
    }
  }
}

TEST_CASE("GIVEN times over hours WHEN they are rounded THEN by less than a part of their range") {
  const std::vector<std::uint64_t> times{5, 40'000'000'000'000, 3, 17'000'000'000'001};
  html::column_writer columns;
  columns.add_rounded("t", times);
  columns.add_real("r", std::vector{1.5, std::nan("")});
  const auto found = read_back(columns, "t");
  for (std::size_t i = 0; i < times.size(); ++i) {
    CHECK(std::abs(found[i] - static_cast<double>(times[i])) <= 4e13 / 4e9);
  }
  CHECK(read_back(columns, "r")[0] == 1.5);
  CHECK(std::isnan(read_back(columns, "r")[1]));
}

TEST_CASE("GIVEN bytes WHEN they are written in base64 THEN as RFC 4648 says") {
  const auto of = [](const std::string& text) {
    return html::base64({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  };
  CHECK(of("") == "");
  CHECK(of("f") == "Zg==");
  CHECK(of("fo") == "Zm8=");
  CHECK(of("foobar") == "Zm9vYmFy");
}

TEST_CASE("GIVEN a hostile name WHEN it stands in a page THEN it ends no element") {
  const nlohmann::json document = {{"name", "</script><script>x()</script>&\xe2\x80\xa8\"\\"}};
  const auto escaped = html::escaped_json(document.dump());
  for (const char letter : {'<', '>', '&'}) CHECK(escaped.find(letter) == std::string::npos);
  CHECK(escaped.find("\xe2\x80\xa8") == std::string::npos);
  CHECK(nlohmann::json::parse(escaped) == document);
  CHECK(html::escaped_text("<a b=\"c\">&\x01") == "&lt;a b=&quot;c&quot;&gt;&amp; ");
}

TEST_CASE("GIVEN an endless name WHEN it is shortened THEN it is still UTF-8") {
  std::string endless(999, 'x');
  for (int i = 0; i < 1'000'000; ++i) endless += "é";
  const auto cut = html::shortened(endless);
  CHECK(cut.size() < 1100);
  CHECK(cut == std::string(999, 'x') + "…");
  CHECK(html::shortened("short") == "short");
}

TEST_CASE("GIVEN the page WHEN it is filled in THEN what is filled in is not searched for tokens") {
  const auto page = html::page_template();
  for (const auto* token :
       {"@memtrace-title@", "@memtrace-connect@", "@memtrace-facts@", "@memtrace-columns@"}) {
    INFO(token);
    const auto first = page.find(token);
    REQUIRE(first != std::string_view::npos);
    CHECK(page.find(token, first + 1) == std::string_view::npos);
  }
  CHECK(html::filled("a @x@ b @y@ c", {{"@x@", "@y@"}, {"@y@", "Y"}}) == "a @y@ b Y c");
}
