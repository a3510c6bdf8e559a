// SPDX-License-Identifier: Apache-2.0
//
// Programs call their keys and values much alike: k_cache, past_key_values, kv_pool.
#pragma once

#include <string_view>

namespace memtrace::attribution {

// Of a path of names, as Python would write it ("self.layers[…].k_cache").
[[nodiscard]] bool names_keys_and_values(std::string_view path);

}  // namespace memtrace::attribution
