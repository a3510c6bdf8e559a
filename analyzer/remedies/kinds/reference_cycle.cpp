// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> reference_cycle(const clues& of) {
  if (!of.kept_by(format::held_unreachable) || of.lost_in_graph()) return std::nullopt;
  const bool collected = of.about.found.shape == growth::shape::sawtooth ||
                         of.about.found.shape == growth::shape::sawtooth_leak;
  verdicts::remedy what;
  what.id = "reference_cycle";
  what.helps_what_fills = true;
  what.cause = collected ? "No name leads to it, and it goes in bursts: objects that refer to each "
                           "other keep tensors until Python's garbage collector runs."
                         : "No name leads to it: objects that refer to each other, or C++ alone, "
                           "keep it.";
  what.change =
      "Break the cycle: no `self` in closures and callbacks that `self` keeps, `weakref.ref` for "
      "the way back, or set the attribute to None when the object is done.";
  what.caution = collected
                     ? "gc.collect() in each step frees it, but takes time and hides the cycle."
                     : "gc.disable() or gc.freeze() lets such cycles pile up; a cycle through "
                       "autograd's C++ is never collected.";
  return what;
}

}  // namespace memtrace::remedies
