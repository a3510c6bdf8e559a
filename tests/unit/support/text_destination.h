// SPDX-License-Identifier: Apache-2.0
//
// An exporter's output, in memory.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/export/formats/destination.h"

namespace memtrace::test {

class text_destination final : public exporting::destination {
 public:
  void write(std::string_view bytes) override { written += bytes; }
  [[nodiscard]] bool failed() const override { return false; }
  [[nodiscard]] const std::string& path() const override { return name_; }
  std::string written;

 private:
  std::string name_ = "nowhere";
};

}  // namespace memtrace::test
