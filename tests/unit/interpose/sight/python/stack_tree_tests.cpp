// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/stack_tree.h"

#include <map>
#include <tuple>
#include <vector>

#include "tests/unit/catch.h"

namespace {

using namespace memtrace::python_stack;

stack_node node_of(node_number parent, frame_key key) {
  return {key, parent, 1, 0};
}

}  // namespace

TEST_CASE("a frame is found below the caller that it was added to, and nowhere else") {
  stack_tree tree;
  const frame_key key{0x1000, 0x1010};
  CHECK(tree.find(root, key) == no_node);
  const node_number first = tree.add(node_of(root, key));
  const node_number second = tree.add(node_of(first, key));
  CHECK(first != second);
  CHECK(tree.find(root, key) == first);
  CHECK(tree.find(first, key) == second);
  CHECK(tree.find(second, key) == no_node);
  CHECK(tree.find(omitted, key) == no_node);
}

TEST_CASE("instruction and owner tell frames of one code object apart") {
  stack_tree tree;
  const frame_key keys[] = {
      {0x1000, 0x1010}, {0x1000, 0x1012}, {0x1000 | 1ull << 56, 0x1010}, {0x2000, 0x1010}};
  std::vector<node_number> numbers;
  for (const frame_key& key : keys) numbers.push_back(tree.add(node_of(root, key)));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(tree.find(root, keys[i]) == numbers[i]);
    CHECK(tree.find(root, keys[i]) == numbers[i]);  // now by the child found last
  }
}

TEST_CASE("what was added is found again after the tree has grown many times") {
  stack_tree tree;
  std::map<std::tuple<node_number, std::uint64_t, std::uint64_t>, node_number> added;
  std::uint64_t random = 1;
  node_number parent = root;
  for (int i = 0; i < 20000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const frame_key key{(random >> 33 & 0x3ff0) + 0x5500'0000'0000, random >> 20 & 0xfffe};
    const auto known = added.find({parent, key.code_and_owner, key.instruction});
    node_number number = tree.find(parent, key);
    CHECK(number == (known == added.end() ? no_node : known->second));
    if (number == no_node) number = tree.add(node_of(parent, key));
    added[{parent, key.code_and_owner, key.instruction}] = number;
    parent = (random >> 40) % 5 == 0 ? root : number;
  }
}

TEST_CASE("nodes of dead code, and what lies below them, are found no more; others are") {
  stack_tree tree;
  const frame_key dies{0x1000, 0x1010}, lives{0x2000, 0x2010};
  const node_number dead = tree.add(node_of(root, dies));
  const node_number below = tree.add(node_of(dead, lives));
  const node_number other = tree.add(node_of(root, lives));
  CHECK(tree.find(dead, lives) == below);
  CHECK(tree.find(root, dies) == dead);
  const address code = 0x1000;
  tree.forget({&code, 1});
  CHECK(tree.find(root, dies) == no_node);
  CHECK(tree.find(root, lives) == other);
  const node_number again = tree.add(node_of(root, dies));
  CHECK(again != dead);
  CHECK(tree.find(again, lives) == no_node);
}

TEST_CASE("a full tree takes nothing more until it is cleared") {
  stack_tree tree;
  std::uint64_t code = 0x1000;
  while (!tree.full()) REQUIRE(tree.add(node_of(root, {code += 16, 0})) != no_node);
  CHECK(tree.add(node_of(root, {code + 16, 0})) == no_node);
  CHECK(tree.find(root, {code, 0}) != no_node);
  tree.clear();
  CHECK(tree.find(root, {code, 0}) == no_node);
  CHECK(tree.add(node_of(root, {code, 0})) != no_node);
}
