// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/other_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <vector>

#include "analyzer/judge/program/bound_effect.h"

namespace memtrace::verdicts {

namespace {

class renaming {
 public:
  renaming(const program_text& program, const std::string& name)
      : made_(program),
        name_(name),
        length_(fmt::format(R"(^len\(\s*(?:\w+\.)*{}\s*\)$)", name)),
        size_(fmt::format(R"(^(?:\w+\.)*{}\.(shape\[-?\d\]|size\(-?\d\))$)", name)),
        whole_(fmt::format(R"(^(?:\w+\.)*{}$)", name)),
        element_(fmt::format(
            R"(^(?:\w+\.)*{}(?:\[[^\[\]]*\]|\.(?:setdefault|get)\((?:[^()]|\([^()]*\))*\))$)",
            name)),
        joined_(fmt::format(
            R"(\b(?:cat|concat|hstack|vstack)\(\s*[\[(](?:[^\])]*[\s,.\[(])?{}\s*[,\])])", name)) {}

  [[nodiscard]] program_text made() && {
    made_.write_key_as_name(name_);
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (!made_.names(i, name_)) continue;
      if (made_.begins(i, {"for", "async for"})) {
        in_loop(i);
      } else {
        assigned(i);
        handed_on(i);
      }
    }
    return std::move(made_);
  }

 private:
  // What an expression is to the container: "items", "items[_]"; empty: nothing.
  [[nodiscard]] std::string meant(const std::string& expression) const {
    if (std::regex_match(expression, length_)) return fmt::format("len({})", name_);
    std::smatch size;
    if (std::regex_match(expression, size, size_)) return name_ + '.' + size[1].str();
    if (std::regex_match(expression, whole_)) return name_;
    if (std::regex_match(expression, element_)) return name_ + "[_]";
    return {};
  }

  void rename(std::size_t from, std::size_t to, const std::string& other, const std::string& as) {
    if (!as.empty() && other != name_) made_.replace_word(from, to, other, as);
  }

  void in_loop(std::size_t line) {
    static const std::regex over(R"(^(?:async )?for\s+(?:\w+\s*,\s*)?(\w+)\s+in\s+(.*):$)");
    static const std::regex values(R"(^(.*)\.(?:values|items)\(\)$)");
    std::smatch found, container;
    const auto& code = made_.at(line);
    if (!std::regex_search(code, found, over)) return;
    const auto variable = found[1].str();
    const auto sequence = found[2].str();
    const auto end = made_.end_of(line);
    if (std::regex_match(sequence, container, values)) {
      if (meant(container[1].str()) == name_) rename(line + 1, end, variable, name_ + "[_]");
      return;
    }
    if (sequence.size() < 2 || (sequence.front() != '(' && sequence.front() != '[')) return;
    for (const auto& one : parts_of(std::string_view(sequence).substr(1, sequence.size() - 2))) {
      if (const auto as = meant(one); !as.empty()) return rename(line + 1, end, variable, as);
    }
  }

  void assigned(std::size_t line) {
    static const std::regex local(R"(^(\w+)\s*=\s*(.*)$)");
    std::smatch found;
    const auto code = made_.at(line);
    if (!std::regex_search(code, found, local)) return;
    const auto function = made_.function_of(line);
    if (!function) return;
    const auto end = made_.end_of(*function);
    rename(line + 1, end, found[1].str(), meant(found[2].str()));
    if (std::regex_search(code, joined_)) cut_and_kept(line + 1, end, found[1].str());
  }

  // x = torch.cat([self.rows, x]) … self.rows = x[-n:]
  void cut_and_kept(std::size_t from, std::size_t to, const std::string& longer) {
    for (auto i = from; i < to; ++i) {
      if (assigned_to(name_, made_.at(i)).starts_with(longer + "["))
        rename(i, i + 1, longer, name_);
    }
  }

  void handed_on(std::size_t line) {
    static const std::regex call(R"((\w+)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))");
    const auto code = made_.at(line);
    for (auto at = std::sregex_iterator(code.begin(), code.end(), call);
         at != std::sregex_iterator(); ++at) {
      const auto definition = made_.definition_of((*at)[1].str());
      if (!definition || *definition == line) continue;
      const auto given = parts_of((*at)[2].str());
      const auto parameters = parameters_of(made_.at(*definition));
      for (std::size_t i = 0; i < std::min(given.size(), parameters.size()); ++i) {
        const auto as = meant(given[i]);
        if (!as.empty()) rename(*definition + 1, made_.end_of(*definition), parameters[i], as);
      }
    }
  }

  program_text made_;
  const std::string& name_;
  std::regex length_;
  std::regex size_;
  std::regex whole_;
  std::regex element_;
  std::regex joined_;
};

// state["pairs"].append(x), state["bank"] = torch.cat(…)
[[nodiscard]] bool is_given_something(const program_text& program, const std::string& key) {
  auto by_key = program;
  by_key.write_key_as_name(key);
  const bound_effect container(by_key, key);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (by_key.at(i) == program.at(i)) continue;
    if (container.makes_larger(by_key.at(i)) || !assigned_to(key, by_key.at(i)).empty())
      return true;
  }
  return false;
}

}  // namespace

std::string last_name(std::string_view variable) {
  variable = variable.substr(0, variable.find('['));
  const auto dot = variable.rfind('.');
  std::string name(dot == variable.npos ? variable : variable.substr(dot + 1));
  const bool plain = std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
  return plain ? name : std::string();
}

std::string name_in(const program_text& program, std::string_view variable) {
  constexpr std::string_view opens = "['";
  constexpr std::string_view closes = "']";
  if (variable.ends_with(closes)) {
    const auto at = variable.rfind(opens) + opens.size();
    std::string key(variable.substr(at, variable.size() - closes.size() - at));
    const bool plain = !key.empty() && std::ranges::all_of(key, [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '_';
    });
    if (plain && is_given_something(program, key)) return key;
  }
  return last_name(variable);
}

program_text by_one_name(const program_text& program, const std::string& name) {
  return renaming(program, name).made();
}

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
