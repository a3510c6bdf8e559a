// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/blocks_of_calls.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

struct told_block {
  std::uint32_t device = 0;
  bool is_alloc = false;
  std::uint64_t bytes = 0;
  [[nodiscard]] bool operator==(const told_block&) const = default;
};

class listener final : public trace::record_visitor {
 public:
  void on_reported(const trace::event& head, const trace::reported_event& record) override {
    told.push_back({head.device, record.is_alloc, record.block_bytes});
    addresses.push_back(record.address);
  }
  std::vector<told_block> told;
  std::vector<std::uint64_t> addresses;
};

[[nodiscard]] trace::event on_second_device() {
  trace::event head;
  head.device = 1;
  return head;
}

// A trace in which each call has its name from the dictionary.
struct program {
  trace::dictionary names;
  listener heard;
  replay::blocks_of_calls blocks{names, heard};

  void call(std::string_view api, std::uint64_t address, std::uint64_t size,
            std::uint64_t handle = 0, bool release = false) {
    REQUIRE(names.define_text(api) == trace::dictionary::outcome::defined);
    trace::cuda_call_event made;
    made.api = names.text_of(++texts);
    made.address = address;
    made.size = size;
    made.handle = handle;
    made.release = release;
    blocks.on_cuda_call(on_second_device(), made);
  }
  void free(std::string_view api, std::uint64_t address, std::uint64_t handle = 0) {
    call(api, address, 0, handle, true);
  }
  std::uint64_t texts = 0;
};

}  // namespace

TEST_CASE("GIVEN a program without Python WHEN it calls CUDA THEN its device memory is blocks") {
  program one;
  one.call("cudaMalloc", 1_GiB, 2_MiB);
  one.call("cudaMallocHost", 2_GiB, 4_MiB);
  one.free("cudaFree", 1_GiB);
  one.free("cudaFree", 1_GiB);  // twice: the program's mistake
  CHECK(one.heard.told == std::vector<told_block>{{1, true, 2_MiB}, {1, false, 2_MiB}});
  CHECK(one.heard.addresses == std::vector<std::uint64_t>{1_GiB, 1_GiB});
  CHECK(one.blocks.told());
}

TEST_CASE("GIVEN physical memory THEN it is a block until neither handle nor mapping is left") {
  program one;
  one.call("cuMemCreate", 0, 32_MiB, 7);
  one.call("cuMemMap", 8_GiB, 32_MiB, 7);
  one.free("cuMemRelease", 0, 7);
  CHECK(one.heard.told.size() == 1);
  one.call("cuMemUnmap", 8_GiB, 32_MiB, 0, true);
  CHECK(one.heard.told == std::vector<told_block>{{1, true, 32_MiB}, {1, false, 32_MiB}});
  CHECK(one.heard.addresses[0] == one.heard.addresses[1]);
}

TEST_CASE("GIVEN a release that failed THEN the block is back") {
  program one;
  one.call("cudaMalloc", 1_GiB, 2_MiB);
  one.free("cudaFree", 1_GiB);
  trace::cuda_undo_event failed;
  failed.api = one.names.text_of(2);
  failed.address = 1_GiB;
  one.blocks.on_cuda_undo(on_second_device(), failed);
  CHECK(one.heard.told.back() == told_block{1, true, 2_MiB});
}

TEST_CASE("GIVEN PyTorch THEN calls are no blocks") {
  program one;
  one.blocks.on_info("torch", "2.11.0");
  one.call("cudaMalloc", 1_GiB, 2_MiB);
  CHECK(one.heard.told.empty());
  CHECK_FALSE(one.blocks.told());
}

TEST_CASE("GIVEN Python THEN calls are blocks, but for who cannot begin again") {
  program one, other;
  other.blocks.stop_for_python();
  for (auto* const each : {&one, &other}) {
    each->blocks.on_info("python", "3.11.2");
    each->call("cudaMalloc", 1_GiB, 2_MiB);
  }
  CHECK(one.blocks.told());
  CHECK_FALSE(other.blocks.told());
}

TEST_CASE("GIVEN PyTorch that is loaded later WHEN its allocator has a block THEN none were told") {
  for (const bool keeps : {false, true}) {
    program one;
    one.call("cudaMalloc", 1_GiB, 2_MiB);
    if (!keeps) one.free("cudaFree", 1_GiB);
    one.blocks.on_reported(on_second_device(), {});
    CHECK_FALSE(one.blocks.told());
    const auto so_far = one.heard.told.size();
    one.call("cudaMalloc", 3_GiB, 2_MiB);
    CHECK(one.heard.told.size() == so_far);
    CHECK_FALSE(one.blocks.told());
  }
}
