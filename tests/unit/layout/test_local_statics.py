# SPDX-License-Identifier: Apache-2.0
import check_local_statics
import pytest


@pytest.mark.parametrize("declaration", [
    "static const bool is_known = find();",
    "static auto* const one = new (std::nothrow) device_activity;",
    "static std::string name;",
    "static const table found{find_function(1)};",
    "static const address\n      found = find();",
    "static thread_local counts mine{};",
])
def test_one_with_a_guard_is_found(declaration):
    text = f"int f() {{\n  {declaration}\n  return 0;\n}}\n"
    assert check_local_statics.breaches("interpose/a.cpp", text) == [
        "line 2: a static that is neither constexpr nor constinit"]
    assert check_local_statics.breaches("analyzer/a.cpp", text) == []


def test_what_needs_no_guard_is_allowed():
    text = """
struct a {
  static void* run(void* self) noexcept;
  static inline constinit int number = 0;
  static_assert(sizeof(int) == 4);
};
int f() {
  static constinit found_once<int, find> found;
  static constexpr char here = 0;
  return static_cast<int>(found.get());
}
"""
    assert check_local_statics.breaches("interpose/a.cpp", text) == []


def test_the_library_has_none():
    assert check_local_statics.main() == 0
