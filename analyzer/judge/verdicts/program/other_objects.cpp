// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/other_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <set>
#include <vector>

#include "analyzer/judge/verdicts/program/other_names.h"

namespace memtrace::verdicts {

namespace {

// Variables that are made objects of one class: run, phase = Meter(), Meter().
[[nodiscard]] std::set<std::string> of_the_same_class(const program_text& program,
                                                      const std::string& owner) {
  static const std::regex target(R"(^\(?([\w.,\s]+)\)?\s*=(?!=))");
  std::set<std::string> found;
  std::string kind;
  const auto class_of = [&](const std::string& name, std::size_t line) {
    return class_made_by(assigned_to(name, program.at(line)));
  };
  for (std::size_t i = 0; kind.empty() && i < program.size(); ++i) {
    if (program.names(i, owner)) kind = class_of(owner, i);
  }
  if (kind.empty()) return found;
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::smatch names;
    if (!program.names(i, kind) || !std::regex_search(program.at(i), names, target)) continue;
    const auto targets = names[1].str();
    for (const auto& one : parts_of(targets)) {
      const auto name = last_name(one);
      if (!name.empty() && name != owner && class_of(name, i) == kind) found.insert(name);
    }
  }
  return found;
}

// The line of "class Queue:" and its name, for each class.
struct one_class {
  std::size_t line = 0;
  std::string name;
  std::string bases;
};

[[nodiscard]] std::vector<one_class> classes_of(const program_text& program) {
  static const std::regex heading(R"(^class\s+(\w+)(?:\(([^)]*)\))?)");
  std::vector<one_class> found;
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::smatch named;
    if (program.begins(i, {"class"}) && std::regex_search(program.at(i), named, heading))
      found.push_back({i, named[1].str(), named[2].str()});
  }
  return found;
}

// It makes an attribute of that name itself, rather than being handed one.
[[nodiscard]] bool makes_its_own(const program_text& program, const one_class& what,
                                 const std::string& name) {
  static const std::regex fresh(
      R"(^(?:None|\[.*\]|\{.*\}|(?:\w+\.)*(?:list|dict|set|deque|OrderedDict|defaultdict|zeros|empty|randn)\(.*\))$)");
  bool makes = false;
  for (auto i = what.line + 1; i < program.end_of(what.line); ++i) {
    if (!program.names(i, "self." + name)) continue;
    const auto value = assigned_to(name, program.at(i));
    if (value.empty()) continue;
    const bool is_fresh =
        std::regex_match(value, fresh) || value.find("self." + name) != value.npos;
    if (!is_fresh) return false;
    makes = true;
  }
  return makes;
}

}  // namespace

program_text apart_from_others(const program_text& program, std::string_view variable,
                               std::string_view holder) {
  auto apart = program;
  const auto dot = variable.rfind('.');
  // Of containers in containers the holder is the innermost one's.
  if (dot == variable.npos || variable.find('[') != variable.npos) return apart;
  const auto name = last_name(variable);
  const auto owner = last_name(variable.substr(0, dot));
  if (name.empty()) return apart;
  if (!owner.empty() && owner != "self") {
    for (const auto& other : of_the_same_class(program, owner))
      apart.replace_text(0, program.size(), other + ".", "another_" + other + ".another_");
  }
  const auto classes = classes_of(program);
  const auto own = std::ranges::find(classes, holder, &one_class::name);
  if (holder.empty() || own == classes.end()) return apart;
  for (const auto& one : classes) {
    const bool is_related = one.name == holder || one.bases.find(holder) != one.bases.npos ||
                            own->bases.find(one.name) != own->bases.npos;
    if (is_related || !makes_its_own(program, one, name)) continue;
    apart.replace_text(one.line, program.end_of(one.line), "self." + name, "self.another_" + name);
  }
  return apart;
}

}  // namespace memtrace::verdicts
