// SPDX-License-Identifier: Apache-2.0
//
// Records of one device handed to the compiler by hand, in the order of PyTorch's own trace:
//
//   recorded_run run;
//   run.segment(a, 20_MiB).alloc(a, 4_MiB, 4_MiB).free(a);
//   const auto log = run.compile();
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "analyzer/model/allocator/compile.h"
#include "tests/unit/analyzer/model/allocator/made_requests.h"

namespace memtrace::test {

class recorded_run {
 public:
  recorded_run() {
    calls_["cudaMalloc"] = define("cudaMalloc");
    calls_["cuMemCreate"] = define("cuMemCreate");
    calls_["cuMemAddressReserve"] = define("cuMemAddressReserve");
    compiler_.on_info(format::info_key::torch, "2.11.0+cu130");
    compiler_.on_device({0, 1_GiB, 900_MiB, 8, 6, 82, {}});
  }

  recorded_run& entry(format::kind kind, std::uint64_t address, std::uint64_t size) {
    trace::allocator_event record;
    record.kind = kind;
    record.address = address;
    record.size = size;
    record.stream = stream;
    record.pool = pool;
    record.device_free = device_free;
    compiler_.on_allocator(head(), record);
    return *this;
  }
  recorded_run& segment(std::uint64_t address, std::uint64_t size) {
    reserved_ += size;
    return entry(format::kind::segment_alloc, address, size);
  }
  recorded_run& release(std::uint64_t address, std::uint64_t size) {
    reserved_ -= size;
    return entry(format::kind::segment_free, address, size);
  }
  recorded_run& alloc(std::uint64_t address, std::uint64_t size, std::uint64_t block) {
    sizes_[address] = {size, block};
    entry(format::kind::alloc, address, size);
    return report(address, static_cast<std::int64_t>(block));
  }
  recorded_run& free(std::uint64_t address) {
    entry(format::kind::free_requested, address, sizes_[address].first);
    entry(format::kind::free_completed, address, sizes_[address].first);
    return report(address, -static_cast<std::int64_t>(sizes_[address].second));
  }
  recorded_run& free_later(std::uint64_t address) {
    entry(format::kind::free_requested, address, sizes_[address].first);
    return report(address, -static_cast<std::int64_t>(sizes_[address].second));
  }
  recorded_run& complete(std::uint64_t address) {
    return entry(format::kind::free_completed, address, sizes_[address].first);
  }
  recorded_run& operation(format::operation what, std::uint64_t a = 0, std::uint64_t b = 0,
                          std::string_view text = {}) {
    compiler_.on_operation(head(), {static_cast<std::uint64_t>(what), a, b, text});
    return *this;
  }
  recorded_run& call(const char* api, std::uint64_t address, std::uint64_t size,
                     std::uint64_t error = 0) {
    trace::cuda_call_event record;
    record.api = calls_.at(api);
    record.address = address;
    record.size = size;
    record.error = error;
    compiler_.on_cuda_call(head(), record);
    return *this;
  }
  recorded_run& info(std::string_view key, std::string_view value) {
    compiler_.on_info(key, value);
    return *this;
  }
  recorded_run& report(std::uint64_t address, std::int64_t block) {
    allocated_ += static_cast<std::uint64_t>(block);
    compiler_.on_report({device, address, block, allocated_, reserved_});
    return *this;
  }

  // Before the recording.
  recorded_run& was_allocated(std::uint64_t bytes) {
    allocated_ += bytes;
    return *this;
  }

  [[nodiscard]] std::unique_ptr<allocator::request_log> compile(std::uint32_t of_device = 0) {
    auto logs = compiler_.finish();
    return logs.contains(of_device) ? std::move(logs.at(of_device))
                                    : std::make_unique<allocator::request_log>();
  }

  std::uint32_t device = 0;
  std::uint32_t thread = 1;
  std::uint64_t stream = 0;
  trace::pool_id pool;
  std::uint64_t device_free = 0;

 private:
  [[nodiscard]] trace::event head() {
    trace::event made;
    made.number = events_++;
    made.device = device;
    made.thread = {thread};
    return made;
  }
  [[nodiscard]] trace::text_id define(std::string_view text) {
    (void)names_.define_text(text);
    return {++texts_};
  }

  trace::dictionary names_;
  std::uint32_t texts_ = 0;
  std::map<std::string_view, trace::text_id> calls_;
  allocator::compiler compiler_{names_};
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> sizes_;
  std::uint64_t allocated_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace memtrace::test
