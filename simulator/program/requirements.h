// SPDX-License-Identifier: Apache-2.0
// The NVIDIA libraries that the packages in a site-packages folder need.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
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

// The fields of a package's METADATA file. This one: of an installed torch.
[[nodiscard]] bool is_torch_metadata(const std::filesystem::path& path);

// The cuDNN that torch was built against and asks for, as cudnnGetVersion() gives it: "92600" for
// 9.26.0. Empty where the text does not say, or says 8 or less, which counts in another way.
[[nodiscard]] std::string cudnn_version(std::string_view metadata);

// The same of a file that may be missing.
[[nodiscard]] std::string cudnn_version_in(const std::filesystem::path& metadata);

}  // namespace memtrace::simulator
