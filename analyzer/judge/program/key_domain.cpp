// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/key_domain.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace memtrace::verdicts {

namespace {

[[nodiscard]] direction found_for(const program_text& program, const std::string& variable,
                                  int depth) {
  constexpr int most_names = 2;  // done = step + 1
  const auto name = variable.substr(variable.rfind('.') + 1);
  const std::regex up(fmt::format(R"(\b{0}\s*(?:\+=|=\s*[\w.]*\b{0}\s*\+))", name));
  const std::regex down(fmt::format(R"(\b{}\s*-=)", name));
  // Of an enumeration the first alone is a number.
  const std::regex loop(fmt::format(
      R"(^for\s+(?:(?:[^=]*[\s,(])?{0}\b.*\bin\s+range|\(?{0}\b.*\bin\s+enumerate)\()", name));
  bool goes_up = false;
  bool falls = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    if (std::regex_search(program.at(i), loop)) return direction::loop;
    goes_up = goes_up || std::regex_search(program.at(i), up);
    falls = falls || std::regex_search(program.at(i), down);
  }
  if (goes_up) return direction::up;  // and down where elements go
  static const std::regex one_more(
      R"(^(?:([A-Za-z_]\w*)\s*\+\s*\d+$|(?:min\(|int\()?[(\s]*([A-Za-z_]\w*)\s*(?:\+\s*1\s*\)\s*)?//))");
  for (std::size_t i = 0; !falls && depth < most_names && i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    const auto value = assigned_to(name, program.at(i));
    std::smatch found;
    if (!std::regex_search(value, found, one_more)) continue;
    return found_for(program, found[found[1].matched ? 1 : 2].str(), depth + 1);
  }
  return falls ? direction::down : direction::none;
}

}  // namespace

direction direction_of(const program_text& program, const std::string& variable) {
  return found_for(program, variable, 0);
}

namespace {

// The argument at the end of "shuffled(step) % 12)", "divmod(step, 14)[1]" …
const std::regex& remainder_of() {
  static const std::regex found(R"(%\s*([A-Za-z_][\w.]*|\d[\d_]*|len\(\s*[\w.]+\s*\))\s*\)*\s*$)");
  return found;
}

class searched_key {
 public:
  searched_key(const program_text& program, const program_numbers& numbers)
      : program_(program), numbers_(numbers) {}

  // Of "step % 14", "TASKS[step % 8]", "random.choice(TASKS)", "rng.randrange(10)".
  [[nodiscard]] std::optional<key_domain> of_expression(const std::string& text,
                                                        std::size_t line) const {
    static const std::regex chosen(R"((?:^|\.)choice\(\s*(.*)\s*\)$)");
    static const std::regex drawn(R"(\b(?:randrange|randint)\((?:[^(),]*,)?\s*([\w.]+)\s*[,)])");
    static const std::regex element(R"(^([A-Za-z_][\w.]*)\[)");
    static const std::regex at_most(
        R"(^min\((?:.*,\s*([\w.]+|(?:len\([\w.]+\)|[A-Za-z_][\w.]*)\s*-\s*1)|\s*((?:len\([\w.]+\)|[A-Za-z_][\w.]*)\s*-\s*1|\d+)\s*,.*)\s*\)$)");
    static const std::regex between(R"(\bbisect(?:_left|_right)?\(\s*([\w.]+)\s*,)");
    std::smatch found;
    if (std::regex_search(text, found, remainder_of())) return of_count(found[1].str(), line);
    if (std::regex_search(text, found, chosen)) return of_elements(found[1].str(), line);
    if (std::regex_search(text, found, drawn)) {
      auto made = of_count(found[1].str(), line);
      if (made) {
        made->drawn = true;
        ++made->keys;  // random.randint has both ends
      }
      return made;
    }
    if (std::regex_search(text, found, at_most)) {
      auto made = with_zero(of_count(found[found[1].matched ? 1 : 2].str(), line));
      if (made) made->highest = rises_in(text);
      return made;
    }
    if (std::regex_search(text, found, between))
      return with_zero(of_elements(found[1].str(), line));
    if (auto kind = of_labels(text, line)) return kind;
    if (std::regex_search(text, found, element)) return of_elements(found[1].str(), line);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<key_domain> of_elements(const std::string& sequence,
                                                      std::size_t line) const {
    const auto here = elements_written(sequence);
    if (here != 0) return key_domain{here, {}, line};
    const auto named = numbers_.elements_of(sequence);
    if (named != 0) return key_domain{named, sequence, line};
    return std::nullopt;
  }

  // for KEY in SEQUENCE: of a loop that is itself gone through again and again.
  [[nodiscard]] std::optional<key_domain> of_loop(const std::string& sequence,
                                                  std::size_t line) const {
    static const std::regex range(R"(^range\(\s*([\w.]+|len\([\w.]+\))\s*\)$)");
    static const std::regex of_model(
        R"(\.(?:named_parameters|named_modules|named_children|named_buffers|state_dict|children|modules|parameters)\()");
    static const std::regex counted(R"(^enumerate\(\s*([\w.]+)\s*\)$)");
    if (const auto found = of_elements(sequence, line)) return found;
    if (std::regex_search(sequence, of_model)) return key_domain{0, {}, line};
    if (program_.loops_around(line) == 0) return std::nullopt;
    if (auto kind = of_labels(sequence, line)) return kind;
    std::smatch found;
    if (std::regex_search(sequence, found, range)) return of_count(found[1].str(), line);
    if (std::regex_search(sequence, found, counted)) return key_domain{0, {}, line};
    return std::nullopt;
  }

 private:
  // Of min(step // 6, 7): one of its numbers only ever rises.
  [[nodiscard]] bool rises_in(const std::string& text) const {
    static const std::regex word(R"([A-Za-z_][\w.]*)");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), word);
         at != std::sregex_iterator(); ++at) {
      if (rises(direction_of(program_, at->str()))) return true;
    }
    return false;
  }

  [[nodiscard]] static std::optional<key_domain> with_zero(std::optional<key_domain> found) {
    if (found && found->keys != 0) ++found->keys;
    return found;
  }

  // "int(labels[0])", "labels.tolist()", where labels = torch.randint(10, (64,))
  [[nodiscard]] std::optional<key_domain> of_labels(const std::string& text,
                                                    std::size_t line) const {
    static const std::regex of_tensor(
        R"((?:^|[(\s])([A-Za-z_]\w*)(?:\[\w+\])?(?:\.(?:cpu|unique|tolist|item)\(\))*\)*(?:,|$))");
    static const std::regex drawn(R"(\brandint\(\s*(?:0\s*,\s*)?([\w.]+)\s*,\s*[(\[])");
    std::smatch found;
    if (!std::regex_search(text, found, of_tensor)) return std::nullopt;
    const auto name = found[1].str();
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name)) continue;
      const auto value = assigned_to(name, program_.at(i));
      if (!std::regex_search(value, found, drawn)) continue;
      auto made = of_count(found[1].str(), line);
      if (made) made->drawn = true;
      return made;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<key_domain> of_count(const std::string& count,
                                                   std::size_t line) const {
    static const std::regex name(R"(^[A-Za-z_][\w.]*(?:\s*-\s*1)?$)");
    const auto keys = numbers_.value_of(count);
    const bool is_known = keys != 0;
    if (keys == 1 || count == "len" || (!is_known && !std::regex_match(count, name)))
      return std::nullopt;
    const bool is_number = std::isdigit(static_cast<unsigned char>(count.front())) != 0;
    return key_domain{keys, is_number ? std::string() : count, line};
  }

  const program_text& program_;
  const program_numbers& numbers_;
};

// "task, rows = order", where another process was sent "(step % 12, rows)".
[[nodiscard]] std::optional<key_domain> sent_to(const program_text& program,
                                                const program_numbers& numbers) {
  static const std::regex sent(
      R"(\.(?:put|put_nowait|send|submit)\(.*%\s*([A-Za-z_][\w.]*|\d[\d_]*)\s*\)*\s*,)");
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::smatch found;
    if (!std::regex_search(program.at(i), found, sent)) continue;
    const auto keys = numbers.value_of(found[1].str());
    if (keys >= 2) return key_domain{keys, {}, i};
  }
  return std::nullopt;
}

// What is given to the variable, everywhere in the file.
[[nodiscard]] std::optional<key_domain> domain_of_variable(const program_text& program,
                                                           const program_numbers& numbers,
                                                           const std::string& key) {
  const std::regex in_loop(
      fmt::format(R"(^(?:async )?for\s+(?:.*[\s,(])?{}\b[^=]*?\s+in\s+(.*):$)", key));
  const std::regex restarts(fmt::format(R"(\b{}\s*(?:==|>=)\s*([\w.]+|len\([\w.]+\)))", key));
  const std::regex divided(
      fmt::format(R"(,\s*(?:\w+\.)*{}\s*=\s*divmod\(.*,\s*([\w.]+)\s*\)$)", key));
  const std::regex counts(fmt::format(R"(\b{}\s*\+=\s*1$)", key));
  const searched_key searched(program, numbers);
  std::optional<key_domain> domain;
  std::optional<key_domain> restarted;
  bool from_zero = true;  // what else it is given are numbers, or one more
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, key)) continue;
    const auto& code = program.at(i);
    std::smatch found;
    std::optional<key_domain> here;
    if (std::regex_search(code, found, in_loop)) {
      here = searched.of_loop(found[1].str(), i);
      if (!here) return std::nullopt;
    } else if (std::regex_search(code, found, divided)) {
      here = searched.of_expression("% " + found[1].str(), i);
      if (!here) return std::nullopt;
    } else if (program.begins(i, {"if"}) && std::regex_search(code, found, restarts)) {
      const auto body = program.body_of(i);
      const bool begins_anew = std::ranges::any_of(
          body, [&](const std::string& one) { return assigned_to(key, one) == "0"; });
      if (begins_anew) restarted = searched.of_expression("% " + found[1].str(), i);
    } else if (const auto value = assigned_to(key, code); !value.empty()) {
      if (value == key) continue;  // self.number = number
      here = searched.of_expression(value, i);
      const bool unpacked =
          code.find(',') < code.find('=') && value == code.substr(code.find('=') + 2);
      if (!here && unpacked) here = sent_to(program, numbers);
      const bool is_number = std::isdigit(static_cast<unsigned char>(value.front())) != 0;
      if (!here && !is_number) return std::nullopt;
      from_zero = from_zero && !here;
    } else if (std::regex_search(code, counts)) {
      continue;
    }
    if (here && (!domain || here->keys > domain->keys)) domain = here;
  }
  if (domain) return domain;
  return from_zero ? restarted : std::nullopt;
}

constexpr int most_calls = 3;  // of functions that hand a key on

[[nodiscard]] std::optional<key_domain> domain_of_key(const program_text& program,
                                                      const program_numbers& numbers,
                                                      const std::string& key, std::size_t line,
                                                      int depth = 0);

// What calls of a function give for its parameter number `at` (self does not count), everywhere.
[[nodiscard]] std::optional<key_domain> domain_of_parameter(const program_text& program,
                                                            const program_numbers& numbers,
                                                            const std::string& function,
                                                            std::size_t at, int depth) {
  const auto definition = program.definition_of(function);
  const std::regex call(fmt::format(R"(\b{}\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))", function));
  std::optional<key_domain> all;
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::smatch found;
    if (i == definition || !program.names(i, function)) continue;
    if (!std::regex_search(program.at(i), found, call)) continue;
    const auto given = parts_of(found[1].str());
    if (at >= given.size()) return std::nullopt;
    const auto one = domain_of_key(program, numbers, given[at], i, depth + 1);
    if (!one) return std::nullopt;
    if (!all || one->keys > all->keys) all = one;
  }
  return all;
}

[[nodiscard]] std::optional<key_domain> domain_of_key(const program_text& program,
                                                      const program_numbers& numbers,
                                                      const std::string& key, std::size_t line,
                                                      int depth) {
  static const std::regex plain(R"(^\s*(?:\w+\.)*([A-Za-z_]\w*)\s*$)");
  std::smatch name;
  if (depth > most_calls) return std::nullopt;
  if (!std::regex_match(key, name, plain))
    return searched_key(program, numbers).of_expression(key, line);
  const auto variable = name[1].str();
  if (auto found = domain_of_variable(program, numbers, variable)) return found;
  const auto function = program.function_of(line);
  if (!function || key.find('.') != std::string::npos) return std::nullopt;
  const auto parameters = parameters_of(program.at(*function));
  const auto place = std::ranges::find(parameters, variable);
  if (place == parameters.end()) return std::nullopt;
  return domain_of_parameter(program, numbers, program.name_of_function(line),
                             static_cast<std::size_t>(place - parameters.begin()), depth);
}

// Of a function whose answers are remembered: its one argument, wherever it is called.
[[nodiscard]] std::optional<key_domain> domain_of_arguments(const program_text& program,
                                                            const program_numbers& numbers,
                                                            const std::string& function) {
  const auto definition = program.definition_of(function);
  if (!definition || *definition == 0) return std::nullopt;
  const auto& decorator = program.at(*definition - 1);
  if (!decorator.starts_with('@') || decorator.find("cache") == std::string::npos)
    return std::nullopt;
  if (parameters_of(program.at(*definition)).size() != 1) return std::nullopt;
  return domain_of_parameter(program, numbers, function, 0, 0);
}

}  // namespace

std::optional<key_domain> highest_of(const program_text& program, const program_numbers& numbers,
                                     const std::string& variable, std::size_t line) {
  auto found = domain_of_key(program, numbers, variable, line);
  return found && found->highest ? found : std::nullopt;
}

std::optional<key_domain> domain_of_keys(const program_text& program,
                                         const program_numbers& numbers,
                                         const std::string& container) {
  const std::regex written(
      fmt::format(R"(\b{}\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\s*=(?!=))", container));
  const std::regex set_default(fmt::format(R"(\b{}\.setdefault\(\s*([\w.]+)\s*,)", container));
  // seen.setdefault(name, []).append(x): there are as many lists as names, each of any length.
  const std::regex fills_a_value(fmt::format(
      R"(\b{}(?:\[[^\[\]]*\]|\.setdefault\((?:[^()]|\([^()]*\))*\))\.(?:append|appendleft|extend|add|insert|update)\()",
      container));
  std::optional<key_domain> all;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, container)) continue;
    std::smatch found;
    const auto& code = program.at(i);
    if (std::regex_search(code, fills_a_value)) return std::nullopt;
    if (!std::regex_search(code, found, written) && !std::regex_search(code, found, set_default))
      continue;
    const auto key = found[1].str();
    const auto one = domain_of_key(program, numbers, key, i);
    if (!one) return std::nullopt;
    if (!all || one->keys > all->keys) all = one;
  }
  return all ? all : domain_of_arguments(program, numbers, container);
}

}  // namespace memtrace::verdicts
