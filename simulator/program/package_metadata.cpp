// SPDX-License-Identifier: Apache-2.0
#include "package_metadata.h"

#include <charconv>
#include <fstream>

namespace memtrace::simulator {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

// "9.26.0.51": the first three numbers; false where there are fewer.
bool read_version(std::string_view text, unsigned (&numbers)[3]) {
  for (unsigned& number : numbers) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || read.ptr == text.data() + text.size() || *read.ptr != '.') {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
  }
  return true;
}

}  // namespace

bool is_torch_metadata(const std::filesystem::path& path) {
  const std::string folder = path.parent_path().filename().string();
  return path.filename() == "METADATA" && folder.starts_with("torch-") &&
         folder.ends_with(".dist-info");
}

std::string cudnn_version(std::string_view metadata) {
  // Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; …   or   nvidia-cudnn-cu12 (==9.1.0.70) ; …
  const std::size_t package = metadata.find("Requires-Dist: nvidia-cudnn-cu");
  if (package == std::string_view::npos) return {};
  const std::string_view line = metadata.substr(package, metadata.find('\n', package) - package);
  const std::size_t equal = line.find("==");
  unsigned numbers[3] = {};
  if (equal == std::string_view::npos || !read_version(line.substr(equal + 2), numbers)) return {};
  const auto [major, minor, patch] = numbers;
  if (major < 9 || major > 99 || minor > 99 || patch > 99) return {};
  return std::to_string(major * 10000 + minor * 100 + patch);
}

std::string cudnn_version_in(const std::filesystem::path& metadata) {
  std::ifstream file(metadata, std::ios::binary);
  std::string text(most_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return cudnn_version(text);
}

}  // namespace memtrace::simulator
