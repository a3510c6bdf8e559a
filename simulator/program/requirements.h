// SPDX-License-Identifier: Apache-2.0
// The NVIDIA libraries that the packages in a site-packages folder need.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace memtrace::simulator {

struct requirements {
  std::set<std::string> sonames;
  std::set<std::string> functions;
  std::vector<std::filesystem::path> inputs;   // the files that were read
  std::vector<std::filesystem::path> folders;  // whose change means that packages came or went
  unsigned cuda_major = 0;                     // of torch, else of any extension; 0: none found
  std::string cudnn_version;                   // that torch asks for ("92600"); empty: not known
  bool found_torch = false;
  bool real_libraries = false;  // NVIDIA's own libraries lie where DT_RPATH finds them first
};

[[nodiscard]] requirements scan(const std::vector<std::filesystem::path>& site_packages);

}  // namespace memtrace::simulator
