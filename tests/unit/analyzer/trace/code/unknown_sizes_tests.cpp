// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/unknown_sizes.h"

#include "tests/unit/catch.h"

using namespace memtrace;
using outcome = trace::dictionary::outcome;

namespace {

// Stack 1 is train.py:7, 2 the operator above it as the native frames have it, 3 without Python.
void define(trace::dictionary& names, const char* symbol) {
  for (const char* text : {"/srv/train.py", "step", "/lib/libtorch_cpu.so", symbol})
    REQUIRE(names.define_text(text) == outcome::defined);
  REQUIRE(names.define_frame(1, 2, 7) == outcome::defined);
  REQUIRE(names.define_frame(3, 4, 0) == outcome::defined);
  REQUIRE(names.define_stack(0, 1) == outcome::defined);
  REQUIRE(names.define_stack(1, 2) == outcome::defined);
  REQUIRE(names.define_stack(0, 2) == outcome::defined);
}

[[nodiscard]] std::vector<code::unknown_size> found(const char* symbol,
                                                    const std::vector<std::string>& reads) {
  trace::dictionary names;
  define(names, symbol);
  return code::unknown_sizes(names, reads);
}

constexpr char nonzero[] = "at::_ops::nonzero::call";
constexpr char item[] = "at::_ops::_local_scalar_dense::call";

}  // namespace

TEST_CASE("GIVEN a read in an operator that is sized by values THEN its line is named once") {
  CHECK(found(nonzero, {"2 ", "2 "}) ==
        std::vector<code::unknown_size>{{"nonzero", "train.py:7 step"}});
  CHECK(found("at::_ops::index_Tensor::redispatch", {"2 "}).at(0).operation == "index");
  CHECK(found("at::_ops::unique_dim_consecutive::call", {"2 "}).at(0).operation ==
        "unique_dim_consecutive");
  // The agent says the operator, where the stack ends before it.
  CHECK(found(item, {"1 bincount"}).at(0).operation == "bincount");
}

TEST_CASE("GIVEN a read of a number, or in an operator of another size THEN there is none") {
  CHECK(found(item, {"2 "}).empty());
  CHECK(found("at::_ops::index_add::call", {"2 "}).empty());
  CHECK(found("nonzero", {"2 "}).empty());
  CHECK(found("at::_ops::", {"2 "}).empty());
}

TEST_CASE("GIVEN a backward pass that reads the same again THEN only the line is named") {
  CHECK(found(nonzero, {"3 ", "2 "}) ==
        std::vector<code::unknown_size>{{"nonzero", "train.py:7 step"}});
  CHECK(found(nonzero, {"3 "}).size() == 1);
}

TEST_CASE("GIVEN a damaged trace THEN what names no stack is left out") {
  CHECK(found(nonzero, {"4 nonzero", "4000000000 nonzero", "", " ", "x nonzero", "-1 "}).empty());
}
