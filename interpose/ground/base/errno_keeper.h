// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace memtrace {

// Around our own code in a hook, never around the real call: what the program finds in errno is
// what its own calls left there.
class [[nodiscard]] errno_keeper {
 public:
  errno_keeper() noexcept : kept_(errno) {}
  ~errno_keeper() { errno = kept_; }
  errno_keeper(const errno_keeper&) = delete;
  errno_keeper& operator=(const errno_keeper&) = delete;

 private:
  int kept_;
};

}  // namespace memtrace
