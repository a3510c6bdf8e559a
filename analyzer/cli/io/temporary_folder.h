// SPDX-License-Identifier: Apache-2.0
//
// A folder of the system's temporary files, deleted with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace memtrace::cli {

class temporary_folder {
 public:
  temporary_folder() {
    std::error_code failed;
    path_ = (std::filesystem::temp_directory_path(failed) / "memtrace-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code failed;
    if (!path_.empty()) std::filesystem::remove_all(path_, failed);
  }
  [[nodiscard]] const std::string& path() const { return path_; }  // empty: it cannot be made

 private:
  std::string path_;
};

}  // namespace memtrace::cli
