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

#include "analyzer/trace/dictionary.h"
#include "analyzer/trace/records.h"

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

 private:
  const trace::dictionary& names_;
  std::unordered_map<std::uint32_t, module_place> places_;  // by object
  std::map<module_place, std::string_view> types_;
  std::set<module_place> checkpointed_;
  std::map<trace::object_id, std::uint32_t> root_numbers_;  // among those of the same class
  std::map<std::string_view, std::uint32_t> roots_of_type_;
};

// "encoder.layer.0" of "encoder.layer.0.weight"; empty of "weight".
[[nodiscard]] std::string_view parent_path(std::string_view path);

}  // namespace memtrace::attribution
