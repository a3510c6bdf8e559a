// SPDX-License-Identifier: Apache-2.0
#include "requirements.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "elf_file.h"
#include "nvidia_names.h"

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

namespace {

namespace fs = std::filesystem;

struct extension {
  fs::path path;
  elf_file elf;
  unsigned major = 0;  // of the CUDA runtime it was linked with; 0: none
};

bool is_shared_object(const std::string& name) {
  const std::size_t at = name.rfind(".so");
  return at != std::string::npos &&
         (at + 3 == name.size() || (name[at + 3] == '.' && at + 4 < name.size() &&
                                    name[at + 4] >= '0' && name[at + 4] <= '9'));
}

bool is_driver_source(const fs::path& path) {
  return path.filename() == "driver.c" && path.string().find("/nvidia/") != std::string::npos;
}

class scanner {
 public:
  void walk(const fs::path& root) {
    note_folders(root);
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator entry(root, options, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code unreadable;
      if (is_shared_object(name) && entry->is_regular_file(unreadable)) {
        read_extension(entry->path(), name);
      } else if (is_driver_source(entry->path())) {
        found_.inputs.push_back(entry->path());
        add_names_in_source(entry->path(), found_.functions);
      } else if (is_torch_metadata(entry->path())) {
        found_.inputs.push_back(entry->path());
        found_.cudnn_version = cudnn_version_in(entry->path());
      }
    }
  }

  requirements finish() {
    choose_major();
    std::unordered_set<std::string> defined;
    for (const extension& each : extensions_) {
      defined.insert(each.elf.defined.begin(), each.elf.defined.end());
    }
    for (const extension& each : extensions_) add_needs(each, defined);
    for (const extension& each : extensions_) look_for_real_libraries(each);
    return std::move(found_);
  }

 private:
  void note_folders(const fs::path& root) {
    found_.folders.push_back(root);
    std::error_code error;
    for (fs::directory_iterator entry(root, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unreadable;
      if (entry->is_directory(unreadable)) found_.folders.push_back(entry->path());
    }
  }

  void read_extension(const fs::path& path, const std::string& name) {
    if (is_nvidia_library(name)) return;  // never loaded
    auto elf = read_elf(path, is_nvidia_symbol);
    if (!elf) return;
    found_.inputs.push_back(path);
    extension each{path, std::move(*elf), 0};
    for (const std::string& needed : each.elf.needed) {
      each.major = std::max(each.major, runtime_major(needed));
    }
    if (name == "libtorch_cuda.so" || name == "libc10_cuda.so") {
      found_.found_torch = true;
      found_.cuda_major = std::max(found_.cuda_major, each.major);
    }
    extensions_.push_back(std::move(each));
  }

  void choose_major() {
    if (found_.cuda_major != 0) return;
    for (const extension& each : extensions_) {
      found_.cuda_major = std::max(found_.cuda_major, each.major);
    }
  }

  void add_needs(const extension& each, const std::unordered_set<std::string>& defined) {
    bool uses_cuda = false;
    // Built for another major version: it could not be loaded into the same process anyway.
    const bool fits = each.major == 0 || each.major == found_.cuda_major;
    for (const std::string& needed : each.elf.needed) {
      if (!is_nvidia_library(needed)) continue;
      uses_cuda = true;
      if (fits && is_nvidia_soname(needed)) found_.sonames.insert(needed);
    }
    for (const elf_symbol& symbol : each.elf.undefined) {
      const bool another_package_defines_it =
          symbol.version_file.empty() && defined.count(symbol.name) != 0;
      if (!another_package_defines_it) found_.functions.insert(symbol.name);
    }
    if (uses_cuda || !each.elf.undefined.empty()) {
      add_names_in_binary(each.path, found_.functions);
    }
  }

  void look_for_real_libraries(const extension& each) {
    for (std::string folder : each.elf.rpath) {
      constexpr std::string_view origin = "$ORIGIN";
      const std::size_t at = folder.find(origin);
      if (at != std::string::npos) {
        folder.replace(at, origin.size(), each.path.parent_path().string());
      }
      for (const std::string& needed : each.elf.needed) {
        std::error_code error;
        if (!found_.real_libraries && is_nvidia_soname(needed)) {
          found_.real_libraries = fs::exists(fs::path(folder) / needed, error);
        }
      }
    }
  }

  requirements found_;
  std::vector<extension> extensions_;
};

}  // namespace

requirements scan(const std::vector<fs::path>& site_packages) {
  scanner all;
  for (const fs::path& folder : site_packages) all.walk(folder);
  return all.finish();
}

}  // namespace memtrace::simulator
