// SPDX-License-Identifier: Apache-2.0
//
// Files that the command writes, in directories that others may write, too, such as /tmp. There
// somebody may have put a symbolic link, or a file of his own that he can read, under the name that
// the user is going to name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace memtrace::cli {

class output_file {
 public:
  enum class mode {
    replace,  // what was there is overwritten, if it is the user's to overwrite
    append,   // the same, and what was there stays
    create,   // there must be nothing
  };
  // is_open() tells whether it worked; if not, error() says why in words.
  output_file(const std::string& path, mode how);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  [[nodiscard]] const std::string& error() const { return error_; }

  // False: see errno.
  [[nodiscard]] bool write(std::string_view text);
  [[nodiscard]] bool write_at(std::uint64_t offset, std::span<const unsigned char> bytes);
  [[nodiscard]] bool close();
  // Takes away what was created: it is of no use.
  void remove();

 private:
  int file_ = -1;
  std::string path_;
  std::string error_;
};

}  // namespace memtrace::cli
