// SPDX-License-Identifier: Apache-2.0
//
// The modules that the agent named: objects to places in models, and models by readable names.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

struct module_place {
  trace::object_id root;
  std::string_view path;  // in the model; empty: the root itself
  [[nodiscard]] auto operator<=>(const module_place&) const = default;
  [[nodiscard]] bool operator==(const module_place&) const = default;
};

class module_table {
 public:
  explicit module_table(const trace::dictionary& names) : names_(names) {}

  void name(const trace::module_event& record);

  // Those that run under checkpoint(), as the agent saw.
  [[nodiscard]] const std::set<module_place>& checkpointed() const { return checkpointed_; }

  // Null: never named.
  [[nodiscard]] const module_place* find(trace::object_id object) const;
  [[nodiscard]] std::string_view type_of(const module_place& place) const;
  // "Net", or "Net #2" for the second model of that class.
  [[nodiscard]] std::string root_name(trace::object_id root) const;
  // The outermost wrapper of a model (torch.compile's, DDP's) that was seen as a root, too: the
  // same model.
  [[nodiscard]] trace::object_id outermost(trace::object_id root) const;

 private:
  void number_roots() const;

  const trace::dictionary& names_;
  std::unordered_map<std::uint32_t, module_place> places_;  // by object
  std::map<module_place, std::string_view> types_;
  std::set<module_place> checkpointed_;
  std::vector<trace::object_id> roots_;  // in the order in which they were named
  // Among those of the same class; reallocated when a root was named.
  mutable std::map<trace::object_id, std::uint32_t> numbers_;
  mutable bool are_numbered_ = false;
  std::map<trace::object_id, trace::object_id> wrappers_;  // by what they wrap
};

// "encoder.layer.0" of "encoder.layer.0.weight"; empty of "weight".
[[nodiscard]] std::string_view parent_path(std::string_view path);

}  // namespace memtrace::attribution
