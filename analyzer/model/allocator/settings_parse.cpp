// SPDX-License-Identifier: Apache-2.0
//
// As PyTorch 2.11 reads a configuration, checked against it (tests/answers/allocator/test_settings.py).
// Two parsers read the same text: one of options that all accelerators share, one of CUDA's own.
// Neither asks whether a separator is the right one: "a:1:b:2" is read as "a:1,b:2".
// 2.9 and 2.10 are read by the same rules, which nobody has checked; what stands before them reads
// otherwise: see settings_before_2_9.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/allocator/settings_tokens.h"

namespace memtrace::allocator {

namespace {

constexpr std::string_view shared_keys[] = {
    "large_segment_size_mb",        "max_split_size_mb",        "max_non_split_rounding_mb",
    "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments",
    "pinned_use_background_threads"};
constexpr std::string_view cuda_keys[] = {"backend",
                                          "release_lock_on_cudamalloc",
                                          "release_lock_on_hipmalloc",
                                          "pinned_use_cuda_host_register",
                                          "pinned_use_hip_host_register",
                                          "graph_capture_record_stream_reuse",
                                          "pinned_reserve_segment_size_mb",
                                          "pinned_num_register_threads",
                                          "per_process_memory_fraction"};

[[nodiscard]] bool is_key(std::string_view word) {
  const auto holds = [&](const auto& keys) {
    return std::find(std::begin(keys), std::end(keys), word) != std::end(keys);
  };
  return holds(shared_keys) || holds(cuda_keys);
}

class parser {
 public:
  parser(std::string_view text, settings& into, bool is_2_11)
      : words_(split_words(text, " \t\n\v\f\r")), to_(into), places_known_(is_2_11) {}

  void read_shared_options();
  void read_cuda_options(std::optional<backend> loaded);

 private:
  using index = std::size_t;

  // PyTorch's assertions name the condition and the place, which move between versions.
  [[noreturn]] void fail_assertion(std::string_view condition, std::string_view place,
                                   std::string_view sentence) const {
    if (!places_known_) throw refused{std::string(sentence)};
    throw refused{fmt::format(
        "{} INTERNAL ASSERT FAILED at \"/pytorch/c10/{}, please report a bug to PyTorch. {}",
        condition, place, sentence)};
  }
  [[noreturn]] void fail_bounds(std::string_view line) const {
    fail_assertion("i < config_.size()", fmt::format("core/AllocatorConfig.h\":{}", line),
                   "Index out of bounds in ConfigTokenizer");
  }
  [[nodiscard]] const std::string& word(index i) const {
    if (i >= words_.size()) fail_bounds("55");
    return words_[i];
  }
  void check(index i) const {
    if (i >= words_.size()) fail_bounds("124");
  }
  // The value of the key at `i`; its place is `i` afterwards.
  [[nodiscard]] const std::string& value(index& i) const {
    check(++i);
    check(++i);
    return words_[i];
  }
  [[nodiscard]] bool flag(index& i) const;
  [[nodiscard]] index skip(index i) const;
  void require_key(const std::string& key, std::string_view parser_name) const {
    if (is_key(key)) return;
    throw refused{fmt::format("Unrecognized key '{}' in {} allocator config.", key, parser_name)};
  }

  [[nodiscard]] index read_shared(index i);
  [[nodiscard]] index read_cuda(index i, std::optional<backend> loaded);
  [[nodiscard]] std::uint64_t at_least_a_segment(index& i, std::string_view key) const;
  [[nodiscard]] index read_large_segment_size(index i);
  [[nodiscard]] index read_garbage_collection(index i);
  [[nodiscard]] index read_divisions(index i);
  [[nodiscard]] index read_division_list(index i);
  [[nodiscard]] index read_backend(index i, std::optional<backend> loaded);
  [[nodiscard]] index read_memory_fraction(index i);
  [[nodiscard]] index read_register_threads(index i);
  [[nodiscard]] index read_reserve_segment(index i);

  std::vector<std::string> words_;
  settings& to_;
  bool places_known_;
};

bool parser::flag(index& i) const {
  const auto& token = value(i);
  if (token == "True") return true;
  if (token == "False") return false;
  throw refused{fmt::format(
      "Expected 'True' or 'False' at index {} in ConfigTokenizer but got '{}'", i, token)};
}

parser::index parser::skip(index i) const {
  if (value(i) != "[") return i;
  while (++i < words_.size() && words_[i] != "]") {
  }
  if (i < words_.size()) return i;
  fail_assertion("i < config_.size()", "core/AllocatorConfig.h\":115",
                 "Expected closing bracket ']' in ConfigTokenizer but reached end of config");
}

void parser::read_shared_options() {
  to_.max_split_size = unlimited;
  to_.roundup_power2_divisions.fill(0);
  to_.garbage_collection_threshold = 0;
  // The size of segments first, wherever it stands: others are measured by it.
  for (index i = 0; i < words_.size(); ++i) {
    if (words_[i] == "large_segment_size_mb") i = read_large_segment_size(i);
  }
  to_.max_non_split_rounding = to_.large_segment_size;
  for (index i = 0; i < words_.size(); ++i) {
    i = read_shared(i);
    if (i + 1 < words_.size()) ++i;  // whatever separates
  }
}

parser::index parser::read_shared(index i) {
  const auto& key = words_[i];
  if (key == "max_split_size_mb") {
    to_.max_split_size = at_least_a_segment(i, key);
  } else if (key == "max_non_split_rounding_mb") {
    to_.max_non_split_rounding = at_least_a_segment(i, key);
  } else if (key == "garbage_collection_threshold") {
    i = read_garbage_collection(i);
  } else if (key == "roundup_power2_divisions") {
    i = read_divisions(i);
  } else if (key == "expandable_segments") {
    to_.expandable_segments = flag(i);
  } else if (key == "pinned_use_background_threads") {
    to_.pinned_use_background_threads = flag(i);
  } else {
    require_key(key, "Accelerator");
    i = skip(i);
  }
  return i;
}

std::uint64_t parser::at_least_a_segment(index& i, std::string_view key) const {
  const auto least = to_.large_segment_size / mebibyte;
  const auto given = to_unsigned(value(i));
  if (given >= least) return mebibytes(given);
  throw refused{fmt::format("CachingAllocator option {} too small, must be >= {}", key, least)};
}

parser::index parser::read_large_segment_size(index i) {
  constexpr auto more_than = min_large_alloc / mebibyte;
  const auto given = to_unsigned(value(i));
  if (given <= more_than) {
    throw refused{
        fmt::format("CachingAllocator option large_segment_size_mb must be > {} MB", more_than)};
  }
  to_.large_segment_size = mebibytes(given);
  return i;
}

parser::index parser::read_garbage_collection(index i) {
  const auto given = to_real(value(i));
  if (!(given > 0 && given < 1)) {
    throw refused{"garbage_collect_threshold is invalid, set it in (0.0, 1.0)"};
  }
  to_.garbage_collection_threshold = given;
  return i;
}

parser::index parser::read_divisions(index i) {
  check(++i);
  if (word(++i) == "[") return read_division_list(i);
  const auto given = to_unsigned(words_[i]);
  if (!is_power_of_2(given)) {
    throw refused{"For roundups, the divisions has to be power of 2 "};
  }
  to_.roundup_power2_divisions.fill(given);
  return i;
}

// [256:1,512:2,>:4]: the first boundary holds below it, too.
parser::index parser::read_division_list(index i) {
  auto& divisions = to_.roundup_power2_divisions;
  const auto from = [&](std::size_t place) {
    return divisions.begin() + static_cast<std::ptrdiff_t>(place);
  };
  bool first = true;
  std::size_t last = 0;
  while (++i < words_.size() && words_[i] != "]") {
    const auto& boundary = words_[i];
    const auto given = to_unsigned(value(i));
    if (given != 0 && !is_power_of_2(given)) {
      throw refused{"For roundups, the divisions has to be power of 2 or 0 to disable roundup "};
    }
    if (boundary == ">") {
      std::fill(from(last + 1), divisions.end(), given);
    } else {
      const auto size = to_unsigned(boundary);
      if (!is_power_of_2(size)) throw refused{"For roundups, the intervals have to be power of 2 "};
      last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(size)) - 1,
                                   divisions.size() - 1);
      if (first) std::fill(divisions.begin(), from(last), given);
      first = false;
      divisions[last] = given;
    }
    if (word(i + 1) != "]") ++i;
  }
  if (i < words_.size()) return i;
  fail_assertion("i < tokenizer.size()", "core/AllocatorConfig.cpp\":185",
                 "Expected closing bracket ']' in ConfigTokenizer but reached end of config");
}

void parser::read_cuda_options(std::optional<backend> loaded) {
  for (index i = 0; i < words_.size(); ++i) {
    i = read_cuda(i, loaded);
    if (i + 1 < words_.size()) ++i;
  }
}

parser::index parser::read_cuda(index i, std::optional<backend> loaded) {
  const auto& key = words_[i];
  if (key == "backend") {
    i = read_backend(i, loaded);
  } else if (key == "release_lock_on_cudamalloc" || key == "release_lock_on_hipmalloc") {
    to_.release_lock_on_cudamalloc = flag(i);
  } else if (key == "pinned_use_cuda_host_register" || key == "pinned_use_hip_host_register") {
    to_.pinned_use_cuda_host_register = flag(i);
  } else if (key == "pinned_num_register_threads") {
    i = read_register_threads(i);
  } else if (key == "pinned_reserve_segment_size_mb") {
    i = read_reserve_segment(i);
  } else if (key == "graph_capture_record_stream_reuse") {
    to_.graph_capture_record_stream_reuse = flag(i);
  } else if (key == "per_process_memory_fraction") {
    i = read_memory_fraction(i);
  } else {
    require_key(key, "CUDA");
    i = skip(i);
  }
  return i;
}

[[nodiscard]] std::string_view name_of(backend which) {
  return which == backend::native ? "native" : "cudaMallocAsync";
}

// `loaded`: the allocator is chosen when the library is loaded and stays.
parser::index parser::read_backend(index i, std::optional<backend> loaded) {
  check(++i);
  const auto& name = word(++i);
  if (name != "native" && name != "cudaMallocAsync") {
    throw refused{"Unknown allocator backend, options are native and cudaMallocAsync"};
  }
  if (loaded && name != name_of(*loaded)) {
    fail_assertion("tokenizer[i] == get()->name()", "cuda/CUDAAllocatorConfig.cpp\":44",
                   fmt::format("Allocator backend parsed at runtime != allocator backend parsed "
                               "at load time, {} != {}",
                               name, name_of(*loaded)));
  }
  to_.backend = name == "native" ? backend::native : backend::cuda_malloc_async;
  return i;
}

parser::index parser::read_memory_fraction(index i) {
  const auto given = to_real(value(i));
  if (!(given >= 0 && given <= 1)) {
    throw refused{"per_process_memory_fraction is invalid, set it in [0.0, 1.0]"};
  }
  to_.memory_fraction = given;
  return i;
}

parser::index parser::read_register_threads(index i) {
  constexpr std::uint64_t most = 128;
  const auto given = to_unsigned(value(i));
  if (!is_power_of_2(given)) {
    throw refused{fmt::format("Number of register threads has to be power of 2, got {}", given)};
  }
  if (given > most) {
    throw refused{fmt::format(
        "Number of register threads should be less than or equal to {}, got {}", most, given)};
  }
  to_.pinned_num_register_threads = given;
  return i;
}

parser::index parser::read_reserve_segment(index i) {
  const auto given = to_unsigned(value(i));
  if (given == 0) throw refused{"Pinned reserve segment size has to be greater than 0"};
  to_.pinned_reserve_segment_size = mebibytes(given);
  return i;
}

// The allocator that loading the library chooses: the first backend:NAME that is one.
[[nodiscard]] backend loaded_backend(std::string_view text) {
  const auto words = split_words(text, " \t\n\v\f\r");
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "backend" || words[i + 1] != ":") continue;
    if (words[i + 2] == "cudaMallocAsync") return backend::cuda_malloc_async;
    if (words[i + 2] == "native") break;
  }
  return backend::native;
}

}  // namespace

std::variant<settings, refusal> parse_settings(std::string_view text,
                                               std::string_view torch_version) {
  const auto version = release_of(torch_version);
  settings now;
  try {
    if (version < torch_release{2, 9}) {
      read_before_2_9(text, version, now);
    } else {
      // In the order in which a starting program meets them.
      parser reader(text, now, version == newest_release);
      reader.read_cuda_options(loaded_backend(text));
      reader.read_shared_options();
    }
  } catch (const refused& why) {
    return refusal{why.what, now};
  }
  return now;
}

std::variant<settings, refusal> change_settings(const settings& now, std::string_view text,
                                                std::string_view torch_version) {
  const auto version = release_of(torch_version);
  auto changed = now;
  try {
    if (version < torch_release{2, 9}) {
      read_before_2_9(text, version, changed);
    } else {
      parser reader(text, changed, version == newest_release);
      reader.read_shared_options();
      reader.read_cuda_options(now.backend);
    }
  } catch (const refused& why) {
    return refusal{why.what, changed};
  }
  return changed;
}

}  // namespace memtrace::allocator
