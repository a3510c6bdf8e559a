// SPDX-License-Identifier: Apache-2.0
//
// Finds the paths in a sentence or a name: "cannot create a file in /data/ada/runs (…)".
#pragma once

#include <string>
#include <string_view>

namespace memtrace::scrub {

// A range of the text that is a path with a directory, from `from` on; empty at the end of the
// text where there is none.
[[nodiscard]] std::string_view next_path(std::string_view text, std::size_t from);

// `replace(path)` for every path of the text.
template <class F>
[[nodiscard]] std::string with_paths_replaced(std::string_view text, const F& replace) {
  std::string made;
  std::size_t done = 0;
  for (auto path = next_path(text, 0); !path.empty(); path = next_path(text, done)) {
    const auto at = static_cast<std::size_t>(path.data() - text.data());
    made += text.substr(done, at - done);
    made += replace(path);
    done = at + path.size();
  }
  return made += text.substr(done);
}

}  // namespace memtrace::scrub
