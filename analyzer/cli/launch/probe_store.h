// SPDX-License-Identifier: Apache-2.0
//
// Where the dry runs of a fit are kept, so that the same command goes on where it was left: a
// folder for each program as it stands, named after all that decides what it would do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/io/temporary_folder.h"

namespace memtrace::cli {

// A digest of all that a program's behaviour depends on: its command, the files that it names, the
// Python files beside its script, its Python's packages, the variables that PyTorch and CUDA read,
// memtrace itself, and `more`.
[[nodiscard]] std::string identity_of(const std::vector<std::string>& command,
                                      const std::vector<std::string>& more);

// $XDG_CACHE_HOME/memtrace/fit, or below ~/.cache; empty: neither is set.
[[nodiscard]] std::string default_store();

class probe_store {
 public:
  // A folder in `parent`, which is made; one of the system's temporary ones, deleted afterwards,
  // where `parent` is empty, cannot be written, or another fit of the same program runs.
  probe_store(const std::string& parent, const std::string& identity);
  probe_store(const probe_store&) = delete;
  probe_store& operator=(const probe_store&) = delete;
  ~probe_store();

  [[nodiscard]] const std::string& path() const { return path_; }  // empty: none can be made
  [[nodiscard]] const std::string& why_temporary() const { return why_; }

 private:
  std::string path_;
  std::string why_;
  int lock_ = -1;
  std::unique_ptr<temporary_folder> temporary_;
};

// Deletes the programs' folders that were not used for longest, until at most so many bytes are
// left.
void prune_store(const std::string& parent, std::uint64_t most_bytes);

}  // namespace memtrace::cli
