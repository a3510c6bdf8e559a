// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "analyzer/model/allocator/settings_tokens.h"

namespace memtrace::allocator {

namespace {

class parser {
 public:
  parser(std::string_view text, settings& into, torch_release version)
      : words_(split_words(text, " ")), to_(into), version_(version) {}

  void read();

 private:
  using index = std::size_t;

  void expect(index i, std::string_view separator) const {
    if (i < words_.size() && words_[i] == separator) return;
    throw refused{fmt::format("Error parsing CachingAllocator settings, expected {}", separator)};
  }
  [[nodiscard]] const std::string& value(index& i) const {
    const auto& key = words_[i];
    expect(++i, ":");
    if (++i < words_.size()) return words_[i];
    throw refused{key == "backend" ? "Error parsing backend value"
                                   : fmt::format("Error, expecting {} value", key)};
  }
  [[nodiscard]] bool flag(index& i, std::string_view called) const;
  [[nodiscard]] index read_option(index i);
  [[nodiscard]] index read_pinned_option(index i);
  [[nodiscard]] std::uint64_t more_than_a_segment(index& i, std::string_view key) const;
  [[nodiscard]] index read_garbage_collection(index i);
  [[nodiscard]] index read_divisions(index i);
  [[nodiscard]] index read_division_list(index i);
  [[nodiscard]] index read_backend(index i);

  std::vector<std::string> words_;
  settings& to_;
  torch_release version_;
};

bool parser::flag(index& i, std::string_view called) const {
  const auto& given = value(i);
  if (given == "True") return true;
  if (given == "False") return false;
  throw refused{fmt::format("Expected a single True/False argument for {}", called)};
}

void parser::read() {
  to_.max_split_size = unlimited;
  to_.roundup_power2_divisions.fill(0);
  to_.garbage_collection_threshold = 0;
  for (index i = 0; i < words_.size(); ++i) {
    i = read_option(i);
    if (i + 1 < words_.size()) expect(++i, ",");
  }
}

parser::index parser::read_option(index i) {
  const auto& key = words_[i];
  if (key == "max_split_size_mb") {
    to_.max_split_size = more_than_a_segment(i, key);
  } else if (key == "max_non_split_rounding_mb" && version_ >= torch_release{2, 6}) {
    to_.max_non_split_rounding = more_than_a_segment(i, key);
  } else if (key == "garbage_collection_threshold") {
    i = read_garbage_collection(i);
  } else if (key == "roundup_power2_divisions") {
    i = read_divisions(i);
  } else if (key == "backend") {
    i = read_backend(i);
  } else if (key == "expandable_segments" && version_ >= torch_release{2, 1}) {
    to_.expandable_segments = flag(i, key);
  } else if (key == "release_lock_on_cudamalloc" || key == "release_lock_on_hipmalloc") {
    to_.release_lock_on_cudamalloc = flag(i, "release_lock_on_cudamalloc");
  } else {
    i = read_pinned_option(i);
  }
  return i;
}

parser::index parser::read_pinned_option(index i) {
  const auto& key = words_[i];
  if (key == "pinned_use_cuda_host_register" || key == "pinned_use_hip_host_register") {
    to_.pinned_use_cuda_host_register = flag(i, "pinned_use_cuda_host_register");
  } else if (key == "pinned_use_background_threads" && version_ >= torch_release{2, 6}) {
    to_.pinned_use_background_threads = flag(i, key);
  } else if (key == "pinned_num_register_threads") {
    constexpr std::uint64_t most = 128;
    const auto given = to_int(value(i));
    if (!is_power_of_2(given)) throw refused{"Number of register threads has to be power of 2 "};
    if (given > most) {
      throw refused{
          fmt::format("Number of register threads should be less than or equal to {}", most)};
    }
    to_.pinned_num_register_threads = given;
  } else {
    throw refused{fmt::format("Unrecognized CachingAllocator option: {}", key)};
  }
  return i;
}

std::uint64_t parser::more_than_a_segment(index& i, std::string_view key) const {
  constexpr auto more_than = 20 * mebibyte / mebibyte;
  const auto given = to_int(value(i));
  if (given > more_than) return mebibytes(given);
  throw refused{fmt::format("CachingAllocator option {} too small, must be > {}", key, more_than)};
}

parser::index parser::read_garbage_collection(index i) {
  const auto given = to_real(value(i));
  if (!(given > 0)) throw refused{"garbage_collect_threshold too small, set it 0.0~1.0"};
  if (!(given < 1)) throw refused{"garbage_collect_threshold too big, set it 0.0~1.0"};
  to_.garbage_collection_threshold = given;
  return i;
}

parser::index parser::read_divisions(index i) {
  const auto& given = value(i);
  if (given == "[") return read_division_list(i);
  const auto divisions = to_int(given);
  if (!is_power_of_2(divisions)) {
    throw refused{"For roundups, the divisions has to be power of 2 "};
  }
  to_.roundup_power2_divisions.fill(divisions);
  return i;
}

// Unlike 2.11's, ">" also takes the place of the boundary before it.
parser::index parser::read_division_list(index i) {
  auto& divisions = to_.roundup_power2_divisions;
  const auto from = [&](std::size_t place) {
    return divisions.begin() + static_cast<std::ptrdiff_t>(place);
  };
  bool first = true;
  std::size_t last = 0;
  while (++i < words_.size() && words_[i] != "]") {
    const auto& boundary = words_[i];
    expect(++i, ":");
    if (++i >= words_.size()) throw refused{"Error parsing roundup_power2_divisions value"};
    const auto given = to_int(words_[i]);
    if (given != 0 && !is_power_of_2(given)) {
      throw refused{"For roundups, the divisions has to be power of 2 or 0 to disable roundup "};
    }
    if (boundary == ">") {
      std::fill(from(last), divisions.end(), given);
    } else {
      const auto size = to_long(boundary);
      if (!is_power_of_2(size)) throw refused{"For roundups, the intervals have to be power of 2 "};
      last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(size)) - 1,
                                   divisions.size() - 1);
      if (first) std::fill(divisions.begin(), from(last), given);
      first = false;
      divisions[last] = given;
    }
    if (i + 1 >= words_.size() || words_[i + 1] != "]") expect(++i, ",");
  }
  return i;
}

parser::index parser::read_backend(index i) {
  const auto& name = value(i);
  if (name != "native" && name != "cudaMallocAsync") {
    throw refused{"Unknown allocator backend, options are native and cudaMallocAsync"};
  }
  to_.backend = name == "native" ? backend::native : backend::cuda_malloc_async;
  return i;
}

}  // namespace

void read_before_2_9(std::string_view text, torch_release version, settings& into) {
  parser(text, into, version).read();
}

}  // namespace memtrace::allocator
