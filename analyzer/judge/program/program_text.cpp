// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/program_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "analyzer/base/text/parts.h"
#include "analyzer/judge/program/cuts.h"

namespace memtrace::verdicts {

namespace {

using text::trimmed;

// The last name of "self.memory.items"; empty of anything else.
[[nodiscard]] std::string_view plain_name(std::string_view target) {
  target = trimmed(target);
  while (!target.empty() && (target.front() == '(' || target.front() == '*'))
    target.remove_prefix(1);
  while (!target.empty() && target.back() == ')') target.remove_suffix(1);
  const bool plain = std::ranges::all_of(target, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
  });
  if (!plain) return {};
  const auto dot = target.rfind('.');
  return dot == target.npos ? target : target.substr(dot + 1);
}

// The first letter of `letters` outside of brackets and texts.
[[nodiscard]] std::size_t find_outside(std::string_view text, std::string_view letters,
                                       std::size_t from = 0) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (depth == 0 && letters.find(letter) != letters.npos) {
      return i;
    } else if (letter == '(' || letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ')' || letter == ']' || letter == '}') {
      --depth;
    }
  }
  return text.npos;
}

// Of "a = b", "a: int = b" and "a = b = c": where the first '=' is.
[[nodiscard]] std::size_t equals_in(std::string_view code) {
  const auto at = find_outside(code, "=");
  if (at == code.npos || at == 0 || at + 1 >= code.size() || code[at + 1] == '=') return code.npos;
  constexpr std::string_view of_others = "=!<>+-*/%|&^:@";
  return of_others.find(code[at - 1]) == of_others.npos ? at : code.npos;
}

// Of a text in three quotes, which may go on for several lines: what is outside of it.
class long_texts {
 public:
  [[nodiscard]] std::string without(std::string_view line) {
    std::string rest;
    while (!line.empty()) {
      if (!open_.empty()) {
        const auto end = line.find(open_);
        if (end == line.npos) return rest;
        line.remove_prefix(end + open_.size());
        open_ = {};
        continue;
      }
      const auto at = std::min(line.find(double_quotes), line.find(single_quotes));
      rest += line.substr(0, std::min(at, line.size()));
      if (at == line.npos) return rest;
      open_ = line.substr(at).starts_with(double_quotes) ? double_quotes : single_quotes;
      line.remove_prefix(at + open_.size());
      rest += R"("")";
    }
    return rest;
  }

 private:
  static constexpr std::string_view double_quotes = R"(""")";
  static constexpr std::string_view single_quotes = "'''";
  std::string_view open_;
};

// Brackets that are open at its end.
[[nodiscard]] int open_brackets(std::string_view code) {
  int depth = 0;
  char quote = 0;
  for (const char letter : code) {
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '(' || letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ')' || letter == ']' || letter == '}') {
      --depth;
    }
  }
  return depth;
}

// self.register_buffer("cos", angles.cos(), persistent=False): self.cos = angles.cos()
[[nodiscard]] std::string as_assignment(const std::string& code) {
  constexpr std::string_view call = ".register_buffer(";
  const auto at = code.find(call);
  if (at == code.npos || at == 0 || code.back() != ')') return code;
  const auto begin = at + call.size();
  const auto parts = parts_of(std::string_view(code).substr(begin, code.size() - begin - 1));
  if (parts.size() < 2 || parts[0].size() < 3) return code;
  const auto name = std::string_view(parts[0]).substr(1, parts[0].size() - 2);
  const bool plain = std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
  if (!plain) return code;
  return code.substr(0, at) + '.' + std::string(name) + " = " + parts[1];
}

}  // namespace

program_text::program_text(const std::vector<std::string>& lines) {
  long_texts texts;
  for (const auto& whole : lines) {
    const auto line = texts.without(whole);
    one_line made;
    if (line.size() <= longest_line) {
      const auto begin = line.find_first_not_of(" \t");
      made.depth = begin == line.npos ? 0 : begin;
      const auto code = std::string_view(line).substr(made.depth);
      made.code = std::string(trimmed(code.substr(0, find_outside(code, "#"))));
      if (made.code.starts_with('#')) made.code.clear();
      // A bracket that is open hides a comment from find_outside.
      if (const auto comment = made.code.find("  # "); comment != made.code.npos)
        made.code.resize(comment);
    }
    lines_.push_back(std::move(made));
  }
  join();
  for (auto& line : lines_) line.code = as_assignment(line.code);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto& code = lines_[i].code;
    if (code.find('-') != code.npos || code.find('[') != code.npos)
      lines_[i].code = with_plain_cuts(*this, i);
  }
}

// A statement of several lines is in its first one, unless it is too long for that.
void program_text::join() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto whole = lines_[i].code;
    auto open = open_brackets(whole);
    auto end = i + 1;
    for (; open > 0 && end < lines_.size() && whole.size() <= longest_line; ++end) {
      const auto& next = lines_[end].code;
      const bool apart = !whole.empty() && !next.empty() && whole.back() != '(' &&
                         whole.back() != '[' && next.front() != ')' && next.front() != ']';
      whole += (apart ? " " : "") + next;
      open += open_brackets(next);
    }
    if (end == i + 1 || open != 0 || whole.size() > longest_line) continue;
    lines_[i].code = std::move(whole);
    for (auto k = i + 1; k < end; ++k) lines_[k].code.clear();
    i = end - 1;
  }
}

void program_text::write_key_as_name(const std::string& key) {
  const std::regex item(R"([A-Za-z_][\w.]*(?:\[\w+\])?\[["'])" + key + R"(["']\])");
  for (auto& line : lines_) {
    const auto& code = line.code;
    if (code.find('"' + key + "\"]") == code.npos && code.find('\'' + key + "']") == code.npos)
      continue;
    line.code = std::regex_replace(code, item, key);
  }
}

namespace {

[[nodiscard]] bool is_part_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// `is_attribute`: also where a dot is before it.
void replace_in(std::string& code, const std::string& text, const std::string& by,
                bool is_attribute) {
  for (auto at = code.find(text); at != code.npos; at = code.find(text, at)) {
    const auto end = at + text.size();
    const bool begins =
        at == 0 || (!is_part_of_name(code[at - 1]) && (is_attribute || code[at - 1] != '.'));
    const bool ends = end == code.size() || text.back() == '.' || !is_part_of_name(code[end]);
    if (!begins || !ends || code.size() + by.size() > program_text::longest_line) {
      at = end;
      continue;
    }
    code.replace(at, text.size(), by);
    at += by.size();
  }
}

}  // namespace

void program_text::replace_word(std::size_t from, std::size_t to, const std::string& word,
                                const std::string& by) {
  if (word.empty()) return;
  for (auto i = from; i < std::min(to, lines_.size()); ++i)
    replace_in(lines_[i].code, word, by, false);
}

void program_text::replace_text(std::size_t from, std::size_t to, const std::string& text,
                                const std::string& by) {
  if (text.empty()) return;
  for (auto i = from; i < std::min(to, lines_.size()); ++i)
    replace_in(lines_[i].code, text, by, true);
}

bool program_text::names(std::string_view word) const {
  return std::ranges::any_of(
      lines_, [&](const one_line& line) { return line.code.find(word) != std::string::npos; });
}

bool program_text::begins(std::size_t line, std::initializer_list<std::string_view> words) const {
  return std::ranges::any_of(words, [&](std::string_view word) {
    const auto& code = at(line);
    return code.starts_with(word) &&
           (code.size() == word.size() ||
            std::isalnum(static_cast<unsigned char>(code[word.size()])) == 0);
  });
}

std::size_t program_text::end_of(std::size_t line) const {
  auto end = line + 1;
  for (auto i = end; i < lines_.size(); ++i) {
    if (lines_[i].code.empty()) continue;
    if (lines_[i].depth <= lines_[line].depth) break;
    end = i + 1;
  }
  return end;
}

std::vector<std::string> program_text::body_of(std::size_t line) const {
  std::vector<std::string> body;
  const auto colon = find_outside(at(line), ":");
  if (colon != std::string::npos) {
    const auto rest = trimmed(std::string_view(at(line)).substr(colon + 1));
    if (!rest.empty()) body.emplace_back(rest);
  }
  for (auto i = line + 1; i < end_of(line); ++i) {
    if (!at(i).empty()) body.push_back(at(i));
  }
  return body;
}

std::optional<std::size_t> program_text::above(std::size_t line) const {
  for (auto i = line; i-- > 0;) {
    if (!lines_[i].code.empty() && lines_[i].depth < lines_[line].depth) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> program_text::left_before(std::size_t line) const {
  for (auto i = line; i-- > 0;) {
    if (lines_[i].code.empty() || lines_[i].depth > lines_[line].depth) continue;
    if (lines_[i].depth < lines_[line].depth) return std::nullopt;
    if (!begins(i, {"if"})) continue;
    const auto body = body_of(i);
    const auto& last = body.empty() ? std::string() : body.back();
    if (last.starts_with("return") || last == "continue") return i;
  }
  return std::nullopt;
}

std::size_t program_text::loops_around(std::size_t line) const {
  std::size_t loops = 0;
  for (auto at_line = above(line); at_line && !begins(*at_line, {"def", "async def", "class"});
       at_line = above(*at_line)) {
    if (begins(*at_line, {"for", "while", "async for"})) ++loops;
  }
  return loops;
}

std::optional<std::size_t> program_text::function_of(std::size_t line) const {
  auto found = above(line);
  while (found && !begins(*found, {"def", "async def"})) found = above(*found);
  return found;
}

std::string program_text::name_of_function(std::size_t line) const {
  const auto found = function_of(line);
  if (!found) return {};
  const auto& code = at(*found);
  const auto name = code.find("def ") + 4;
  return code.substr(name, code.find_first_of("([", name) - name);
}

std::optional<std::size_t> program_text::definition_of(std::string_view function) const {
  const auto head = "def " + std::string(function) + "(";
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (begins(i, {"def", "async def"}) && names(i, head)) return i;
  }
  return std::nullopt;
}

std::size_t end_of_call(std::string_view code, std::size_t begin) {
  return std::min(find_outside(code, ")", begin), code.size());
}

std::vector<std::string> arguments_at(std::string_view code, std::size_t begin) {
  return parts_of(code.substr(begin, end_of_call(code, begin) - begin));
}

std::string class_made_by(const std::string& value) {
  static const std::regex made(R"(^(?:\w+\.)*([A-Z]\w*)\()");
  std::smatch found;
  return std::regex_search(value, found, made) ? found[1].str() : std::string();
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto comma = std::min(find_outside(list, ","), list.size());
    parts.emplace_back(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

std::vector<std::string> parameters_of(const std::string& definition) {
  const auto open = definition.find('(');
  if (open == definition.npos) return {};
  auto parameters = arguments_at(definition, open + 1);
  for (auto& one : parameters) {
    one.erase(0, one.find_first_not_of('*'));
    const auto end = std::ranges::find_if_not(
        one, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
    one.erase(end, one.end());
  }
  std::erase(parameters, std::string());
  if (!parameters.empty() && (parameters.front() == "self" || parameters.front() == "cls"))
    parameters.erase(parameters.begin());
  return parameters;
}

std::string assigned_to(std::string_view name, const std::string& code) {
  std::string_view rest = code;
  // Of several statements on a line the last that gives it something.
  if (const auto next = find_outside(rest, ";"); next != rest.npos) {
    auto later = assigned_to(name, std::string(trimmed(rest.substr(next + 1))));
    return later.empty() ? assigned_to(name, code.substr(0, next)) : later;
  }
  auto equals = equals_in(rest);
  if (equals == rest.npos) return {};
  std::string found;
  std::vector<std::string> targets;
  for (; equals != rest.npos; equals = equals_in(rest)) {
    auto target = rest.substr(0, equals);
    target = target.substr(0, std::min(find_outside(target, ":"), target.size()));
    targets.emplace_back(target);
    rest = trimmed(rest.substr(equals + 1));
  }
  for (const auto& target : targets) {
    const auto left = parts_of(target);
    const auto right = parts_of(rest);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (plain_name(left[i]) != name) continue;
      return left.size() == right.size() ? right[i] : std::string(rest);
    }
  }
  return found;
}

}  // namespace memtrace::verdicts
