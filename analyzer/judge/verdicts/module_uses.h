// SPDX-License-Identifier: Apache-2.0
//
// Which modules still run: a model that is made larger as it trains grows by weights of modules
// that all take part in each step; heads that were replaced, and copies, no longer run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::verdicts {

class module_uses {
 public:
  explicit module_uses(const trace::dictionary& names) : names_(names) {}

  void named(const trace::module_event& record);
  // It allocated in this step, as the innermost module.
  void ran(trace::object_id module, std::uint64_t step);
  // Weights of this name ("layers.3.weight") and model, from this site, were there until so many
  // steps had ended.
  void kept(std::uint32_t device, std::uint32_t site, trace::object_id root,
            std::string_view parameter, std::uint64_t bytes, std::uint64_t until);

  // Nearly all of the weights that the site still keeps after all `steps` are of modules that have
  // run in the last two, and of one model: several are a list that gets longer.
  [[nodiscard]] bool all_run(std::uint32_t device, std::uint32_t site, std::uint64_t steps) const;
  // Some of the modules whose weights it keeps have run again after steps in which they had not:
  // each has its turn, as the models of clients have.
  [[nodiscard]] bool take_turns(std::uint32_t device, std::uint32_t site) const;
  // Some of what it keeps is of a model that has.
  [[nodiscard]] bool model_runs(std::uint32_t device, std::uint32_t site,
                                std::uint64_t steps) const;
  // Some of what it keeps is of a model whose modules were put into others of the same name time
  // and again: "0.down" became "0.base.down", and in the end "0.base.base.base.base.down". Parts by
  // number are no such: a sequence that holds the one before is how a model may be made to grow.
  [[nodiscard]] bool wrap_each_other(std::uint32_t device, std::uint32_t site,
                                     std::uint64_t steps) const;
  // Where in their model they are: "adapters[…]" of "adapters.anna.down.weight" and
  // "adapters.bert.down.weight"; empty of weights of one module, or of several models.
  [[nodiscard]] std::string part_of(std::uint32_t device, std::uint32_t site,
                                    std::uint64_t steps) const;

 private:
  struct weights {
    trace::object_id root;
    std::string module;  // its path
    std::uint64_t bytes = 0;
    std::uint64_t until = 0;
  };
  struct times {
    std::uint64_t last = 0;  // the step
    bool after_a_pause = false;
  };
  [[nodiscard]] bool ran_lately(trace::object_id module, std::uint64_t steps) const;

  static constexpr std::size_t most_modules = std::size_t{1} << 18;

  const trace::dictionary& names_;
  std::map<std::pair<trace::object_id, std::string>, trace::object_id> objects_;
  // By object: how often a name stood in a row in the path by which the module was first named.
  std::unordered_map<std::uint32_t, std::size_t> first_chains_;
  std::set<std::uint32_t> wrapped_;               // models whose modules were wrapped since
  std::unordered_map<std::uint32_t, times> ran_;  // by object
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, weights> kept_;
};

}  // namespace memtrace::verdicts
