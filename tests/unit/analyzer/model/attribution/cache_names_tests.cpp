// SPDX-License-Identifier: Apache-2.0
//
// Which names are those of keys and values.
#include <string>

#include "analyzer/model/attribution/block_life.h"
#include "tests/unit/catch.h"

using memtrace::attribution::names_keys_and_values;

TEST_CASE("GIVEN names of keys and values WHEN read THEN they are known as such") {
  for (const auto* const path :
       {"layers.0.attention.kv_cache.k_cache", "self.cache_v", "past_key_values",
        "running[…].past.past_key_values[…]", "worker.kv_pool", "kvs[…]", "self.key_cache[…]",
        "pages.pools[…]", "state['kv'][…]", "self.layers[…].cached_keys"}) {
    CAPTURE(path);
    CHECK(names_keys_and_values(path));
  }
}

TEST_CASE("GIVEN other names WHEN read THEN they are not") {
  for (const auto* const path :
       {"", "cache", "self.cache[…]", "model.key.weight", "attention.value", "keys",
        "replay.value_buffer", "pages", "pool", "pooled.values", "kvm", "running_mean",
        "self.memory_pool", "past_losses[…]"}) {
    CAPTURE(path);
    CHECK_FALSE(names_keys_and_values(path));
  }
}

TEST_CASE("GIVEN a name of a million letters WHEN read THEN nothing is said of its end") {
  CHECK_FALSE(names_keys_and_values(std::string(1'000'000, 'x') + ".k_cache"));
}
