// SPDX-License-Identifier: Apache-2.0
// The fields of a package's METADATA file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memtrace::simulator {

// The METADATA file of an installed torch.
[[nodiscard]] bool is_torch_metadata(const std::filesystem::path& path);

// The cuDNN that torch was built against and asks for, as cudnnGetVersion() gives it: "92600" for
// 9.26.0. Empty where the text does not say, or says 8 or less, which counts in another way.
[[nodiscard]] std::string cudnn_version(std::string_view metadata);

// The same of a file that may be missing.
[[nodiscard]] std::string cudnn_version_in(const std::filesystem::path& metadata);

}  // namespace memtrace::simulator
