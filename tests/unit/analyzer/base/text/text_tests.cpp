// SPDX-License-Identifier: Apache-2.0
//
// Text for people: sizes, lines that fit, text that is harmless.
#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/trace/code/places.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

TEST_CASE("GIVEN sizes, times and counts WHEN formatted THEN they are binary and say so") {
  CHECK(text::format_bytes(0) == "0 bytes");
  CHECK(text::format_bytes(1) == "1 byte");
  CHECK(text::format_bytes(17) == "17 bytes");
  CHECK(text::format_bytes(1536) == "1.5 KiB");
  CHECK(text::format_bytes(24259_MiB) == "23.69 GiB");
  CHECK(text::format_bytes(~0ull) == "16 EiB");
  CHECK(text::brief_bytes(17) == "17 bytes");
  CHECK(text::brief_bytes(1536) == "1.5 KiB");
  CHECK(text::brief_bytes(64_MiB) == "64 MiB");
  CHECK(text::brief_bytes(24259_MiB) == "23.7 GiB");
  CHECK(text::brief_bytes(1020_MiB) == "1020 MiB");
  CHECK(text::brief_bytes(100_MiB) == "100 MiB");
  CHECK(text::format_seconds(3'420'000'000) == "3.42 s");
  CHECK(text::format_seconds(125'000'000'000) == "2 min 5 s");
  CHECK(text::format_count(0) == "0");
  CHECK(text::format_count(1234567) == "1,234,567");
}

TEST_CASE(
    "GIVEN text that is not UTF-8 WHEN written as JSON or to a terminal THEN it is harmless") {
  std::string json;
  text::append_json_string(json, "a\"\\\n\x01é\xff\xc0\xaf\xed\xa0\x80");
  CHECK(json ==
        "\"a\\\"\\\\\\u000a\\u0001é\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
        "\xbd\xef\xbf\xbd\"");
  CHECK(text::printable("red\x1b[31m\x7f\xc2\x9bx") == "red?[31m??x");
}

TEST_CASE("GIVEN a line WHEN cut THEN whole characters are counted") {
  CHECK(text::cut("héllo", 5) == "héllo");
  CHECK(text::cut("héllo", 4) == "hél…");
  CHECK(text::cut("abc", 1) == "…");
}

TEST_CASE(
    "GIVEN a sentence WHEN cut at a word THEN no part of a word is left, nor too many columns") {
  const std::string sentence = "What is held at the peak, though nothing uses it";
  CHECK(text::cut_at_word(sentence, sentence.size()) == sentence);
  for (std::size_t columns = 12; columns < sentence.size(); ++columns) {
    CAPTURE(columns);
    const auto shortened = text::cut_at_word(sentence, columns);
    REQUIRE(shortened.ends_with(" …"));
    const auto kept = shortened.substr(0, shortened.size() - std::string(" …").size());
    CHECK(sentence.starts_with(kept + " "));
    CHECK(kept.size() + 2 <= columns);
  }
  // A path has no words.
  CHECK(text::cut_at_word("at /srv/a/very/long/path", 12) ==
        text::cut("at /srv/a/very/long/path", 12));
}

TEST_CASE("GIVEN a request of a backward pass THEN its forward line is told, where it is known") {
  const code::source_frame forward{"/srv/model.py", 31, "forward", true};
  const code::source_frame own{"/srv/hook.py", 5, "on_grad", true};
  CHECK(code::place_of_request({}, {forward}, "pt_autograd_0") ==
        "backward of model.py:31 forward");
  CHECK(code::place_of_request({own}, {forward}, "pt_autograd_0") == "hook.py:5 on_grad");
  CHECK(code::place_of_request({}, {}, "pt_autograd_0").starts_with("backward pass"));
}

TEST_CASE("GIVEN a text WHEN trimmed THEN only the white space around it is gone") {
  CHECK(text::trimmed(" \t a b\r\n") == "a b");
  CHECK(text::trimmed("a").size() == 1);
  CHECK(text::trimmed(" \n ").empty());
  CHECK(text::trimmed("").empty());
}

TEST_CASE("GIVEN a path WHEN shortened THEN its last components stay") {
  CHECK(text::file_name("/srv/run/train.py") == "train.py");
  CHECK(text::file_name("train.py") == "train.py");
  CHECK(text::file_name("/srv/run/").empty());
  CHECK(text::last_components("/usr/nn/linear.py", 1) == "linear.py");
  CHECK(text::last_components("/usr/nn/linear.py", 2) == "nn/linear.py");
  CHECK(text::last_components("nn/linear.py", 3) == "nn/linear.py");
}

TEST_CASE("a star stands for any letters, a question mark for one") {
  CHECK(text::matches("", ""));
  CHECK(text::matches("*", ""));
  CHECK(text::matches("self.outputs", "self.outputs"));
  CHECK(text::matches("*.out*s", "self.outputs"));
  CHECK(text::matches("**u?s", "self.outputs"));
  CHECK(text::matches("a*b*c", "a_b_b_c"));
  CHECK_FALSE(text::matches("self", "self.outputs"));
  CHECK_FALSE(text::matches("self.output?", "self.output"));
  CHECK_FALSE(text::matches("a*b*c", "a_c_b"));
  // What a heap scan writes is no class of letters.
  CHECK(text::matches("x[…]['a']", "x[…]['a']"));
  CHECK_FALSE(text::matches("x[ab]", "xa"));
}
