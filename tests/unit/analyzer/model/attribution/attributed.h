// SPDX-License-Identifier: Apache-2.0
//
// A hand-built trace, read, replayed and attributed.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/model/attribution/attributor.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/support/trace_builder.h"

namespace memtrace::test {

class attributed {
 public:
  explicit attributed(const trace_builder& trace, attribution::options wanted = {})
      : bytes_(trace.bytes()), source_(std::as_bytes(std::span(bytes_))) {
    auto opened = trace::reader::open(source_);
    reader_.emplace(std::move(*opened));
    replay_.emplace(reader_->names());
    attribution::attributor attributor(reader_->names(), *replay_, std::move(wanted));
    facts = reader_->read(attributor);
    result = attributor.finish();
  }

  [[nodiscard]] const attribution::device_result& device(std::uint32_t index = 0) const {
    return result.devices.at(index);
  }
  [[nodiscard]] const attribution::composition& peak() const { return device().at_peak; }
  [[nodiscard]] std::uint64_t bytes(attribution::category what) const {
    return peak().categories[what].bytes;
  }
  // At the peak, of the only group with this name.
  [[nodiscard]] const attribution::block_group& group(std::string_view name) const {
    for (const auto& group : peak().groups) {
      if (reader_->names()[group.name] == name) return group;
    }
    throw std::out_of_range("no such group");
  }
  [[nodiscard]] const attribution::module_row& module(std::string_view path,
                                                      std::string_view root = "Net") const {
    for (const auto& row : peak().modules) {
      if (row.path == path && row.root == root) return row;
    }
    throw std::out_of_range("no such module");
  }
  [[nodiscard]] const replay::replayer& replayed() const { return *replay_; }

  attribution::result result;
  trace::completeness facts;

 private:
  byte_vector bytes_;
  trace::memory_source source_;
  std::optional<trace::reader> reader_;
  std::optional<replay::replayer> replay_;
};

}  // namespace memtrace::test
