// SPDX-License-Identifier: Apache-2.0
#include "nvidia_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

namespace memtrace::simulator {
namespace {

constexpr std::array libraries{
    "libcuda",        "libcudart",      "libcublas",        "libcublasLt",   "libcudnn",
    "libcufft",       "libcufftw",      "libcurand",        "libcusolver",   "libcusolverMg",
    "libcusparse",    "libcusparseLt",  "libnccl",          "libnvrtc",      "libnvidia-ml",
    "libcupti",       "libnvToolsExt",  "libnvshmem_host",  "libcufile",     "libnvJitLink",
    "libcudss",       "libcutensor",    "libnvjpeg",        "libnvblas",     "libnvrtc-builtins",
    "libcufile_rdma", "libnvperf_host", "libnvperf_target", "libcheckpoint", "libpcsamplingutil"};

// Followed by an upper-case letter, or the name is somebody else's ("cudaq…", "current").
constexpr std::array prefixes{"cu",        "cuda",  "nccl",   "pnccl",    "nvrtc",
                              "nvml",      "nvtx",  "cudnn",  "cublasLt", "cupti",
                              "nvJitLink", "cudss", "nvjpeg", "__cuda"};
// Followed by anything: cublasSgemm, cufftXtExec, cusolverDnX, nvshmemx_init, …
constexpr std::array long_prefixes{"cublas",   "cufft",   "curand",  "cusolver",
                                   "cusparse", "nvshmem", "cutensor"};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// "libcudart.so.13" or "libcudart.1a2b.so.13" → "libcudart"; empty if it is no such name.
std::string_view base_name(std::string_view file_name) {
  const std::size_t dot = file_name.find('.');
  if (dot == std::string_view::npos || file_name.find(".so") == std::string_view::npos) return {};
  const std::string_view base = file_name.substr(0, dot);
  // "libcudart-1a2b3c4d.so.12": another way in which wheels mark what they bundle.
  const std::size_t dash = base.rfind('-');
  const bool marked = dash != base.npos && base.size() == dash + 9 &&
                      std::all_of(base.begin() + dash + 1, base.end(), is_hex_digit);
  return marked ? base.substr(0, dash) : base;
}

bool all_of_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

}  // namespace

bool is_nvidia_library(std::string_view file_name) {
  const std::string_view base = base_name(file_name);
  return std::find(libraries.begin(), libraries.end(), base) != libraries.end();
}

bool is_nvidia_soname(std::string_view soname) {
  if (!is_nvidia_library(soname)) return false;
  std::string_view rest = soname.substr(soname.find('.'));
  // The digest of a file that a wheel bundles: ".1a2b3c4d".
  const std::size_t next = rest.find('.', 1);
  if (next != rest.npos && std::all_of(rest.begin() + 1, rest.begin() + next, is_hex_digit)) {
    rest.remove_prefix(next);
  }
  return starts_with(rest, ".so") && std::all_of(rest.begin() + 3, rest.end(), [](char c) {
           return c == '.' || (c >= '0' && c <= '9');
         });
}

bool is_nvidia_function(std::string_view name) {
  if (!all_of_name(name)) return false;
  for (const std::string_view prefix : prefixes) {
    if (!starts_with(name, prefix) || name.size() <= prefix.size()) continue;
    const char next = name[prefix.size()];
    if (next >= 'A' && next <= 'Z') return true;
  }
  return std::any_of(long_prefixes.begin(), long_prefixes.end(), [&](std::string_view prefix) {
    return starts_with(name, prefix) && name.size() > prefix.size();
  });
}

bool is_nvidia_symbol(std::string_view name, std::string_view version_file) {
  if (!version_file.empty()) return is_nvidia_library(version_file) && all_of_name(name);
  return is_nvidia_function(name);
}

unsigned runtime_major(std::string_view soname) {
  constexpr std::string_view before_it = ".so.";
  if (base_name(soname) != "libcudart" || !is_nvidia_soname(soname)) return 0;
  const std::size_t at = soname.find(before_it);
  if (at == soname.npos) return 0;
  unsigned major = 0;
  for (const char c : soname.substr(at + before_it.size())) {
    if (c < '0' || c > '9' || major > 999) break;
    major = major * 10 + static_cast<unsigned>(c - '0');
  }
  return major;
}

namespace {

constexpr std::uint64_t largest_file = 8 << 20;  // bytes
constexpr std::size_t shortest_name = 6;         // cuInit; below that it is chance

std::string contents(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size > largest_file) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_fetched_by_name(std::string_view word) {
  if (word.size() < shortest_name || !is_nvidia_function(word)) return false;
  const auto second_part = [&](std::size_t at) {
    return word.size() > at && std::isupper(static_cast<unsigned char>(word[at])) != 0;
  };
  return (word.substr(0, 2) == "cu" && second_part(2)) ||
         (word.substr(0, 4) == "nvml" && second_part(4)) ||
         (word.substr(0, 5) == "nvrtc" && second_part(5));
}

template <class IsEnd>
void add_words(const std::string& bytes, IsEnd is_end, std::set<std::string>& names) {
  std::size_t start = 0;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    const char c = i < bytes.size() ? bytes[i] : '\0';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') continue;
    const std::string_view word(bytes.data() + start, i - start);
    if (is_end(c) && is_fetched_by_name(word)) names.emplace(word);
    start = i + 1;
  }
}

}  // namespace

void add_names_in_binary(const std::filesystem::path& path, std::set<std::string>& names) {
  add_words(
      contents(path), [](char c) { return c == '\0'; }, names);
}

void add_names_in_source(const std::filesystem::path& path, std::set<std::string>& names) {
  add_words(
      contents(path), [](char) { return true; }, names);
}

}  // namespace memtrace::simulator
