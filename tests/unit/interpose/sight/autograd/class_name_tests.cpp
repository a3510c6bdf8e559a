// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/class_name.h"

#include "tests/unit/catch.h"

namespace memtrace::autograd {
namespace outer::inner {

struct base {
  virtual ~base() = default;
};
struct MmBackward0 final : base {};
template <typename T>
struct wrapping final : base {};

}  // namespace outer::inner

namespace {

struct hidden final : outer::inner::base {};

std::string_view name_of(const outer::inner::base& object) {
  return last_part(mangled_class(functions_of(&object)));
}

}  // namespace

TEST_CASE("the class of an object is known without asking it") {
  CHECK(name_of(outer::inner::MmBackward0{}) == "MmBackward0");
  CHECK(name_of(outer::inner::base{}) == "base");
  CHECK(name_of(outer::inner::wrapping<int>{}) == "wrapping");
  CHECK(name_of(hidden{}) == "hidden");
}

TEST_CASE("the last part of a mangled name") {
  CHECK(last_part("N5torch8autograd9generated11MmBackward0E") == "MmBackward0");
  CHECK(last_part("6Global") == "6Global");
  CHECK(last_part("").empty());
  CHECK(last_part("N99shortE") == "N99shortE");
}

}  // namespace memtrace::autograd
