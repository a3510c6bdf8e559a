// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/signs_of_end.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::is_gone_through_once;
using memtrace::verdicts::program_text;

namespace {

[[nodiscard]] bool once(const std::vector<std::string>& lines,
                        const std::vector<std::uint32_t>& calls) {
  return is_gone_through_once(program_text(lines), "sentences", calls);
}

}  // namespace

TEST_CASE("GIVEN a loop through the container THEN it is the work of the run") {
  CHECK(once({"for sentence in sentences:", "    embed(sentence)"}, {2}));
  CHECK(once({"for at in range(0, len(sentences), 4):", "    embed(sentences[at:at + 4])"}, {2}));
  CHECK(once({"batches = [sentences[i:i + 4] for i in range(0, len(sentences), 4)]",
              "for batch in batches:", "    embed(batch)"},
             {3}));
  CHECK(once({"loader = Loader(sentences, 4)", "for batch in loader:", "    embed(batch)"}, {3}));
  CHECK(once({"for step in range(steps):", "    embed(sentences[4 * step:4 * step + 4])"}, {2}));
  // By a parameter of the function that goes through it.
  CHECK(once({"def predict(texts):", "    for text in texts:", "        embed(text)",
              "predict(sentences)"},
             {3, 4}));
}

TEST_CASE("GIVEN a loop that begins again, or through others THEN elements come again") {
  CHECK(!once(
      {"for epoch in range(epochs):", "    for sentence in sentences:", "        embed(sentence)"},
      {3}));
  CHECK(!once({"for step in range(steps):", "    embed(sentences[step % len(sentences)])"}, {2}));
  CHECK(!once({"for step in range(steps):", "    embed(sentences[chosen])"}, {2}));
  CHECK(!once({"for word in sentences[0]:", "    embed(word)"}, {2}));
  CHECK(!once({"embed(sentences)"}, {1}));
  CHECK(!is_gone_through_once(program_text({"for one in all:", "    embed(one)"}), "", {2}));
}
