// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/usage.h"

#include <array>
#include <string_view>
#include <utility>

namespace memtrace::device {

bool is_pytorch_pool(const part& one) {
  return one.name == part_name::pytorch_allocated || one.name == part_name::pytorch_cached ||
         one.name == part_name::graph_pool;
}

std::string words_of_part(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> all = {{
      {part_name::pytorch_allocated, "allocated by PyTorch"},
      {part_name::pytorch_cached, "PyTorch's cache"},
      {part_name::graph_pool, "that replays of CUDA graphs need"},
      {part_name::pytorch_direct, "PyTorch beside its pool"},
      {part_name::program, "the program's own calls"},
      {part_name::pools, "unused in CUDA's pools"},
      {part_name::graphs, "CUDA graphs"},
      {part_name::rounding, "rounding to 2 MiB pages"},
      {part_name::modules, "modules"},
      {part_name::context, "CUDA context"},
      {part_name::others, "other processes"},
      {part_name::context_and_others, "CUDA context and other processes"},
      {part_name::calls, "CUDA calls outside PyTorch's pool"},
  }};
  for (const auto& [known, words] : all) {
    if (name == known) return std::string(words);
  }
  constexpr std::string_view library = part_name::library;
  return name.starts_with(library) ? name.substr(library.size()) : name;
}

}  // namespace memtrace::device
