// SPDX-License-Identifier: Apache-2.0
//
// The role of a block is recorded once in its life: not again at every step, and again of the next
// block at its address.
#include "interpose/ground/recorder/told_storages.h"

#include <memory>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;
using format::storage_role;

namespace {

constexpr std::uint64_t block = 0x7f0000000200;

storage_event leaf_at(std::uint64_t address) {
  return {.role = storage_role::leaf, .address = address, .bytes = 512};
}

std::size_t storages_in(const std::string& path) {
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  return trace.of(kind::storage).size();
}

template <typename Act>
std::size_t storages_after_twice(Act between) {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->storage_once(leaf_at(block));
  between(*recording);
  recording->storage_once(leaf_at(block));
  const std::string path = recording->path();
  recording->finish();
  return storages_in(path);
}

}  // namespace

TEST_CASE("a role is told once while the block lives") {
  CHECK(storages_after_twice([](recorder&) {}) == 1);
  CHECK(storages_after_twice([](recorder& to) {
          for (int i = 0; i < 100; ++i) to.storage_once(leaf_at(block));
        }) == 1);
  CHECK(storages_after_twice([](recorder& to) {
          auto other = allocation(block + 512, 512);
          other.kind = kind::free_requested;
          to.allocator(other);
          to.allocator(allocation(block, 512));  // nothing was freed
        }) == 1);
}

TEST_CASE("a role is told again of the next block at the address, however the first was freed") {
  CHECK(storages_after_twice([](recorder& to) {
          auto freed = allocation(block, 512);
          freed.kind = kind::free_requested;
          to.allocator(freed);
        }) == 2);
  CHECK(storages_after_twice([](recorder& to) {
          auto freed = allocation(block, 512);
          freed.kind = kind::free_requested;
          to.allocator_reported(freed, true, {.address = block, .block_bytes = -512});
        }) == 2);
  CHECK(storages_after_twice([](recorder& to) {
          to.reported({.address = block, .block_bytes = -512}, {}, 0);
        }) == 2);
  CHECK(storages_after_twice([](recorder& to) {
          to.cuda_call({.api = "cudaFree", .is_release = true, .address = block});
        }) == 2);
}

TEST_CASE("each role of a block is told, and each block's") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  for (int twice = 0; twice < 2; ++twice) {
    recording->storage_once(leaf_at(block));
    recording->storage_once({.role = storage_role::workspace, .address = block, .bytes = 512});
    recording->storage_once(leaf_at(block + 512));
  }
  const std::string path = recording->path();
  recording->finish();
  CHECK(storages_in(path) == 3);
}

TEST_CASE("another recording has been told nothing") {
  const temporary_folder folder;
  for (int number = 0; number < 2; ++number) {
    auto recording = make_recorder(folder);
    recording->storage_once(leaf_at(block));
    const std::string path = recording->path();
    recording->finish();
    CHECK(storages_in(path) == 1);
    (void)std::remove(path.c_str());
  }
}

TEST_CASE("told storages: more than fit are told again, never taken for told") {
  auto table = std::make_unique<told_storages>();
  constexpr std::uint64_t count = 400'000;  // three times as many as there are places
  for (std::uint64_t i = 1; i <= count; ++i) table->add(i * 512, storage_role::leaf);
  std::uint64_t kept = 0;
  for (std::uint64_t i = 1; i <= count; ++i) kept += table->contains(i * 512, storage_role::leaf);
  CHECK(kept > 100'000);
  CHECK_FALSE(table->contains((count + 1) * 512, storage_role::leaf));
  CHECK_FALSE(table->contains(count * 512, storage_role::parameter));
  for (std::uint64_t i = 1; i <= count; ++i) table->remove(i * 512);
  kept = 0;
  for (std::uint64_t i = 1; i <= count; ++i) kept += table->contains(i * 512, storage_role::leaf);
  CHECK(kept == 0);
  table->add(513, storage_role::leaf);  // no address of a block: told every time
  CHECK_FALSE(table->contains(513, storage_role::leaf));
}
