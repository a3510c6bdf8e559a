// SPDX-License-Identifier: Apache-2.0
//
// The search on objects made here, laid out as in PyTorch 2.11 and as a PyTorch that nobody knows,
// whose nodes are laid out as in 2.15.
#include "interpose/sight/autograd/layout_search.h"

#include <array>
#include <cstring>
#include <map>
#include <string>

#include "tests/unit/catch.h"

namespace memtrace::autograd {
namespace {

using object = std::array<unsigned char, 1024>;

std::uint64_t address_of(const object& of) {
  return reinterpret_cast<std::uintptr_t>(of.data());
}

void put(object& to, std::size_t offset, std::uint64_t word) {
  std::memcpy(to.data() + offset, &word, sizeof word);
}

constexpr detail::layout of_2_11{16, 16, 24, 64, 168, 16, 48, 40, 48, 144, 24, 48, 568, 96, 24};
constexpr detail::layout of_another{24, 24, 40, 80, 186, 24, 64, 56, 72, 160, 16, 40, 600, 104, 32};

constexpr std::uint64_t thread = 1;
constexpr std::uint64_t sequence = 4711;

// Everything that a probe points at.
class world {
 public:
  explicit world(const detail::layout& at) : at_(at) {
    make_tensor("leaf", 6, {3, 5, 7}, 3 * 5 * 7 * 4);
    make_tensor("gradient", 6, {3, 5, 7}, 3 * 5 * 7 * 4);
    make_tensor("result", 6, {3, 5, 7}, 3 * 5 * 7 * 4);
    make_tensor("plain", 15, {2, 11, 13}, 2 * 11 * 13 * 2);
    put(of("node"), at.sequence_number, sequence);
    put(of("node"), at.thread, thread);
    point("node object", 16, "node");
    point("accumulate", at.variable, "leaf impl");
    point("accumulate object", 16, "accumulate");
    point("other", at.object_tensor, "other impl");
    point("other accumulate", at.variable, "other impl");
    point("other accumulate object", 16, "other accumulate");
    point("edge", 0, "accumulate");
    point("node", at.edges, "edge");
    put(of("node"), at.edges + 8u, address_of(of("edge")) + at.edge_bytes);
    point("leaf meta", at.gradient, "gradient impl");
    put(of("leaf meta"), at.requires_grad, 0xab000001);  // padding may hold anything
    point("result meta", at.grad_fn, "node");
    point("result meta", at.gradient, "undefined");
    point("plain meta", at.gradient, "undefined");
    for (const char* name : {"leaf", "result", "plain"}) {
      point(std::string(name) + " impl", at.autograd_meta, std::string(name) + " meta");
    }
  }

  object& of(const std::string& name) { return objects_[name]; }
  void point(const std::string& from, std::size_t offset, const std::string& to) {
    put(of(from), offset, address_of(of(to)));
  }

  layout_probe probe() {
    return {.leaf = facts("leaf", 6, {3, 5, 7}, 420),
            .gradient = facts("gradient", 6, {3, 5, 7}, 420),
            .result = facts("result", 6, {3, 5, 7}, 420),
            .plain = facts("plain", 15, {2, 11, 13}, 572),
            .node = address_of(of("node object")),
            .sequence_number = sequence,
            .accumulate = address_of(of("accumulate object")),
            .other_leaf = address_of(of("other")),
            .other_accumulate = address_of(of("other accumulate object"))};
  }

 private:
  void make_tensor(const std::string& name, unsigned type, std::array<std::uint64_t, 3> sizes,
                   std::uint64_t bytes) {
    point(name, at_.object_tensor, name + " impl");
    point(name + " impl", at_.storage, name + " storage");
    put(of(name + " storage"), at_.data, address_of(of(name + " data")));
    put(of(name + " storage"), at_.bytes, bytes);
    object& impl = of(name + " impl");
    put(impl, at_.sizes, 3);
    for (unsigned i = 0; i < 3; ++i) put(impl, at_.sizes + 8 + 8 * i, sizes[i]);
    const unsigned char type_and_device[] = {static_cast<unsigned char>(type), 0, 0, 0xff, 1};
    std::memcpy(impl.data() + at_.scalar_type, type_and_device, sizeof type_and_device);
  }

  tensor_facts facts(const std::string& name, std::uint64_t type,
                     std::array<std::uint64_t, 3> sizes, std::uint64_t bytes) {
    return {.object = address_of(of(name)),
            .data = address_of(of(name + " data")),
            .storage_bytes = bytes,
            .scalar_type = type,
            .sizes = {sizes[0], sizes[1], sizes[2]}};
  }

  const detail::layout at_;
  std::map<std::string, object> objects_;
};

const char* search(world& in, detail::layout& found) {
  return search_layout(in.probe(), thread, found);
}

bool is_missing(const layout_probe& probe, const char* what) {
  detail::layout found{};
  const char* const missing = search_layout(probe, thread, found);
  return missing != nullptr && std::string(missing).find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the layout of PyTorch 2.11 and of another one are found") {
  for (const detail::layout& expected : {of_2_11, of_another}) {
    world in(expected);
    detail::layout found{};
    REQUIRE(search(in, found) == nullptr);
    CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
  }
}

TEST_CASE("without a vector of edges the rest is found, and nodes are not followed") {
  world in(of_2_11);
  const auto check_the_rest = [&] {
    detail::layout found{};
    REQUIRE(search(in, found) == nullptr);
    CHECK(found.edges == 0);
    CHECK(found.variable == of_2_11.variable);
  };
  SECTION("another node") {
    in.point("edge", 0, "node");
    check_the_rest();
  }
  SECTION("no vector") {
    put(in.of("node"), of_2_11.edges + 8u, 0);
    check_the_rest();
  }
}

TEST_CASE("what stands behind an object in memory by chance does not mislead") {
  world in(of_2_11);
  const auto check_the_layout = [&] {
    detail::layout found{};
    REQUIRE(search(in, found) == nullptr);
    CHECK(std::memcmp(&found, &of_2_11, sizeof found) == 0);
  };
  SECTION("the meta of the leaf stands behind its storage") {
    in.point("leaf storage", 120, "gradient impl");
    check_the_layout();
  }
  SECTION("unused bytes of the leaf's meta still hold where the gradient is") {
    in.point("leaf meta", 24, "gradient impl");
    check_the_layout();
  }
  SECTION("unused bytes of the result's meta still hold where its node is") {
    in.point("result meta", 24, "node");
    in.point("leaf meta", 24, "something");
    check_the_layout();
  }
  SECTION("unused bytes of AccumulateGrad still hold where its tensor is") {
    in.point("accumulate", 304, "leaf impl");
    check_the_layout();
  }
  SECTION("the tensor begins with a pointer to something that ends with the data") {
    in.point("leaf impl", 8, "something");
    put(in.of("something"), 40, in.probe().leaf.data);
    put(in.of("something"), 64, in.probe().leaf.storage_bytes);
    check_the_layout();
  }
}

TEST_CASE("a layout that one fact contradicts is not taken") {
  world in(of_2_11);
  layout_probe probe = in.probe();
  SECTION("storage") {
    probe.plain.storage_bytes += 2;
    CHECK(is_missing(probe, "storage"));
  }
  SECTION("sizes") {
    probe.result.sizes[1] = 6;
    CHECK(is_missing(probe, "sizes"));
  }
  SECTION("dtype") {
    probe.plain.scalar_type = 5;
    CHECK(is_missing(probe, "dtype"));
  }
  SECTION("gradient") {
    put(in.of("leaf meta"), of_2_11.gradient, 0);
    CHECK(is_missing(probe, "gradient"));
  }
  SECTION("a gradient that is there where none should be") {
    in.point("plain meta", of_2_11.gradient, "gradient impl");
    CHECK(is_missing(probe, "gradient"));
  }
  SECTION("requires_grad") {
    put(in.of("plain meta"), of_2_11.requires_grad, 1);
    CHECK(is_missing(probe, "requires_grad"));
  }
  SECTION("sequence number") {
    probe.sequence_number += 1;
    CHECK(is_missing(probe, "sequence number"));
  }
  SECTION("AccumulateGrad") {
    put(in.of("accumulate"), of_2_11.variable, address_of(in.of("plain impl")));
    CHECK(is_missing(probe, "AccumulateGrad"));
  }
}

TEST_CASE("words that are no addresses are survived") {
  CHECK(is_missing(layout_probe{}, "memory"));
  world in(of_2_11);
  layout_probe probe = in.probe();
  probe.leaf.object = 0x10;
  CHECK(is_missing(probe, "storage"));
  for (std::size_t offset = 0; offset < of_2_11.storage; offset += 8) {
    put(in.of("leaf impl"), offset, 0xdeadbeef0000 + offset);
  }
  detail::layout found{};
  CHECK(search(in, found) == nullptr);
}

}  // namespace memtrace::autograd
