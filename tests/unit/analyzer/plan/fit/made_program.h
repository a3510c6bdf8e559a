// SPDX-License-Identifier: Apache-2.0
//
// Programs made up of a few allocations whose sizes follow from the batch, and a prober that "runs"
// them through the model of the allocator on a device of the wanted size. Brute force over every
// batch is then the truth that the search is held to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analyzer/model/allocator/what_if.h"
#include "analyzer/plan/fit/search.h"
#include "tests/unit/analyzer/model/allocator/made_requests.h"

namespace memtrace::test {

// Bytes that a GPU's driver and context keep for themselves.
inline constexpr std::uint64_t outside = 256_MiB;

// The requests of one run at a batch, on a GPU of that model.
using program_maker = std::function<void(made_requests&, std::uint64_t batch, const std::string&)>;

class made_prober final : public fit::prober {
 public:
  explicit made_prober(program_maker make) : make_(std::move(make)) {}

  [[nodiscard]] fit::probe run(const fit::trial& wanted) override {
    ++runs;
    fit::probe made;
    made.of = wanted;
    made_requests asked;
    make_(asked, wanted.batch, wanted.model);
    auto log = std::make_shared<allocator::request_log>(std::move(asked.log));
    log->total_bytes = wanted.total_bytes;
    log->usable_bytes = wanted.total_bytes - outside;
    const auto came = allocator::replay(*log, allocator::as_recorded(*log));
    made.came = came.out_of_memory ? fit::verdict::ran_out : fit::verdict::fits;
    if (log->blocks() == 0) return made;
    fit::device_use device;
    device.peak_allocated = came.allocated.bytes;
    device.peak_reserved = came.reserved.bytes;
    device.used = came.reserved.bytes + outside;
    device.total = wanted.total_bytes;
    device.log = std::move(log);
    made.devices.push_back(std::move(device));
    return made;
  }

  // The largest batch up to `most` that fits, every one tried; 0: none.
  [[nodiscard]] std::uint64_t by_brute_force(const fit::gpu_choice& gpu, std::uint64_t most) {
    std::uint64_t largest = 0;
    for (std::uint64_t batch = 1; batch <= most; ++batch) {
      if (run({gpu.model, gpu.total_bytes, batch, {}, 0}).came == fit::verdict::fits) {
        largest = batch;
      }
    }
    return largest;
  }

  std::uint64_t runs = 0;

 private:
  program_maker make_;
};

// Weights, then steps of a forward that keeps activations and a backward that frees them.
inline void train(made_requests& to, std::uint64_t batch, std::uint64_t weights,
                  std::uint64_t per_item, std::uint64_t constant) {
  for (int layer = 0; layer < 6; ++layer) to.allocate(weights);
  for (int step = 0; step < 4; ++step) {
    std::vector<allocator::block_number> kept;
    for (std::uint64_t layer = 1; layer <= 6; ++layer) {
      kept.push_back(to.allocate(batch * per_item * layer + constant));
      const auto temporary = to.allocate(batch * per_item * 2 + 512);
      kept.push_back(to.allocate(batch * 4));
      to.free(temporary);
    }
    for (; !kept.empty(); kept.pop_back()) {
      const auto gradient = to.allocate(batch * per_item);
      to.free(kept.back());
      to.free(gradient);
    }
    if (step == 0) {
      for (int layer = 0; layer < 6; ++layer) to.allocate(2 * weights);
    }
  }
}

inline fit::gpu_choice gpu_of(const char* model, std::uint64_t bytes, int capability = 86) {
  return {model, model, bytes, capability};
}

}  // namespace memtrace::test
