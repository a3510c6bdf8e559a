// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_cache(const clues& of) {
  if (of.who.what == attribution::category::optimizer_states) return false;  // its own dictionary
  return of.kept_in({"dict", "OrderedDict", "defaultdict", "lru_cache", "_lru_cache_wrapper",
                     "Counter", "ChainMap", "WeakKeyDictionary"});
}

}  // namespace

std::optional<verdicts::remedy> unbounded_cache(const clues& of) {
  if (!is_cache(of) || of.kept_by(format::held_bounded)) return std::nullopt;
  const bool function = of.kept_in({"lru_cache", "_lru_cache_wrapper"});
  verdicts::remedy what;
  what.id = "unbounded_cache";
  what.cause = fmt::format("{} has no limit: it gets new keys and never loses one.", of.variable());
  what.change = function ? "Give it one (`lru_cache(maxsize=…)`), or call its `cache_clear()`; "
                           "better, do not cache tensors on the GPU."
                         : "Bound it: drop the oldest entries (`OrderedDict.popitem(last=False)`), "
                           "`del` a key when it has been used, or keep the values on the CPU.";
  what.caution =
      "A key that never comes again (a tensor, an id, a step) makes a cache useless at any size.";
  return what;
}

}  // namespace memtrace::remedies
