// SPDX-License-Identifier: Apache-2.0
//
// The contents of a graph's nodes, on objects made here: whatever stands in their words, looking
// must not crash, and what has been freed is not a tensor.
#include "interpose/sight/heap_scan/node_contents.h"

#include <array>
#include <cstdint>

#include "interpose/sight/autograd/tensor_layout.h"
#include "tests/unit/catch.h"

namespace memtrace::autograd {

// The real one asks what the agent has told; here there is no undefined tensor.
bool is_the_undefined(const void*) noexcept {
  return false;
}

}  // namespace memtrace::autograd

namespace {

constexpr int functions = 0;
constexpr int a_class = 0;

// As a TensorImpl begins: its functions, its reference count.
struct alignas(16) tensor {
  std::array<std::uint64_t, 32> words{reinterpret_cast<std::uint64_t>(&functions), 1};
  [[nodiscard]] std::uint64_t word() const { return reinterpret_cast<std::uint64_t>(this); }
};

}  // namespace

TEST_CASE("a place that always held a tensor is not followed where it holds none") {
  const memtrace::autograd::readable_memory memory;
  memtrace::heap_scan::node_contents contents(memory, &functions);
  const tensor kept;
  std::array<std::uint64_t, 2> node{kept.word(), 0};
  for (int i = 0; i < 100; ++i) {
    REQUIRE(contents.tensors(&a_class, node.data(), sizeof node).size() == 1);
  }
  // Canonical, aligned, and nobody's: as the words behind an object can be.
  for (const std::uint64_t stale : {0x7fff00000000u, 0x10000000010u, 0x7ffffffffff0u}) {
    node[0] = stale;
    CHECK(contents.tensors(&a_class, node.data(), sizeof node).empty());
  }
  node[0] = kept.word();
  CHECK(contents.tensors(&a_class, node.data(), sizeof node).size() == 1);
}

TEST_CASE("a tensor that nobody refers to any more is none") {
  const memtrace::autograd::readable_memory memory;
  memtrace::heap_scan::node_contents contents(memory, &functions);
  tensor kept;
  const std::array<std::uint64_t, 1> node{kept.word()};
  REQUIRE(contents.tensors(&a_class, node.data(), sizeof node).size() == 1);
  kept.words[1] = 0;
  CHECK(contents.tensors(&a_class, node.data(), sizeof node).empty());
}

TEST_CASE("a node that has been unmapped holds nothing") {
  const memtrace::autograd::readable_memory memory;
  memtrace::heap_scan::node_contents contents(memory, &functions);
  const tensor kept;
  std::array<std::uint64_t, 2> node{kept.word(), 0};
  REQUIRE(contents.tensors(&a_class, node.data(), sizeof node).size() == 1);
  CHECK(contents.tensors(&a_class, reinterpret_cast<const void*>(0x10000), sizeof node).empty());
}
