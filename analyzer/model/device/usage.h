// SPDX-License-Identifier: Apache-2.0
//
// Who holds a device at the moment when most of it was in use, by anybody: parts that sum up to
// what the driver said, but for the rest that nothing explains.
//
//   used = PyTorch's reserved (allocated + cached + graph pools) + other calls of this process by library
//        + what pools hold and do not use + graphs + the driver's rounding + modules + context
//        + other processes + unexplained
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/enum_name.h"

namespace memtrace::device {

// Where a number comes from.
enum class source : std::uint8_t {
  measured,    // calls, and what the driver or NVML says
  difference,  // of the driver's free memory before and after
  rule,        // how the driver is known to round
  estimated    // sizes that the driver does not tell
};
[[nodiscard]] constexpr std::string_view name_of(source how) {
  return text::enum_name(how);
}

struct part {
  std::string name;  // as in the JSON: see part_name
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> peak;  // whenever that was; nothing where nobody looked
  source how{};
};

namespace part_name {
inline constexpr char pytorch_allocated[] = "pytorch_allocated";
inline constexpr char pytorch_cached[] = "pytorch_cached";
// Of its pool, in no block: replays of CUDA graphs need it.
inline constexpr char graph_pool[] = "graph_pool";
// Got from CUDA by PyTorch outside of its pool, or by a caller that is not known.
inline constexpr char pytorch_direct[] = "pytorch_direct";
inline constexpr char program[] = "program";     // its own calls
inline constexpr char library[] = "library:";    // followed by the library's name
inline constexpr char pools[] = "pools_unused";  // reserved by stream-ordered pools, not handed out
inline constexpr char graphs[] = "graphs";       // reserved for graphs' memory nodes
inline constexpr char rounding[] = "rounding";   // to the driver's pages
inline constexpr char modules[] = "modules";     // code and its variables
inline constexpr char context[] = "context";     // all of this process on the device
inline constexpr char others[] = "other_processes";
// Where the two cannot be told apart.
inline constexpr char context_and_others[] = "context_and_other_processes";
// Got by this process in CUDA calls, whoever made them.
inline constexpr char calls[] = "cuda_calls";
}  // namespace part_name

// "libnccl.so.2", "CUDA context"
[[nodiscard]] std::string words_of_part(const std::string& part_name);

// Whether a part belongs to PyTorch's pool; all else is outside of it.
[[nodiscard]] bool is_pytorch_pool(const part& one);

struct usage {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t used = 0;        // bytes, by anybody, as the driver says
  std::vector<part> parts;       // most bytes first, none of 0 bytes
  std::int64_t unexplained = 0;  // negative: the parts are more
};

}  // namespace memtrace::device
