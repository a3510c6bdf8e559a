// SPDX-License-Identifier: Apache-2.0
//
// A file, or a folder, that is written under another name beside its own, and gets its own once it
// is whole. What is not finished is taken away, also when the user interrupts the command.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/cli/io/output_file.h"
#include "analyzer/export/formats/destination.h"

namespace memtrace::cli {

class unfinished_file final : public exporting::destination {
 public:
  // error() says whether and why it cannot be made.
  unfinished_file(const std::string& path, bool is_folder);
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file() override;

  void write(std::string_view bytes) override;
  [[nodiscard]] bool failed() const override { return error_.has_value(); }
  [[nodiscard]] const std::string& path() const override { return unfinished_; }

  // In words; none: all is well so far.
  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
  // Gives it its name. False: see error().
  [[nodiscard]] bool finish();

 private:
  void flush();
  void fail(std::string why);

  std::string path_;
  std::string unfinished_;
  bool is_folder_;
  std::optional<output_file> file_;
  std::string waiting_;  // not written yet
  std::optional<std::string> error_;
  bool is_finished_ = false;
};

}  // namespace memtrace::cli
