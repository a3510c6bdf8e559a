// SPDX-License-Identifier: Apache-2.0
//
// A Python program's source by lines: how deep each is, what stands under it, which function it is
// in. A statement of several lines is in the first of them; the others are empty. So are long
// texts. What a module registers as a buffer is written as the attribute that it becomes.
#pragma once

#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::verdicts {

class program_text {
 public:
  static constexpr std::size_t longest_line = 400;  // std::regex recurses: longer ones are empty

  explicit program_text(const std::vector<std::string>& lines);

  // state["pairs"] becomes pairs.
  void write_key_as_name(const std::string& key);
  // In the lines from `from` to before `to`; not where it is an attribute of something, or what
  // stands for an argument's name.
  void replace_word(std::size_t from, std::size_t to, const std::string& word,
                    const std::string& by);
  // The same of a name with the names that it is an attribute of, or with the dot that follows it:
  // "self.items", "phase."
  void replace_text(std::size_t from, std::size_t to, const std::string& text,
                    const std::string& by);

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  // Without its indentation and its comment.
  [[nodiscard]] const std::string& at(std::size_t line) const { return lines_[line].code; }
  [[nodiscard]] bool names(std::size_t line, std::string_view word) const {
    return at(line).find(word) != std::string::npos;
  }
  // Whether any of its lines does.
  [[nodiscard]] bool names(std::string_view word) const;
  [[nodiscard]] bool begins(std::size_t line, std::initializer_list<std::string_view> words) const;

  // What is done where the line's condition holds: the lines under it, and what follows its colon.
  [[nodiscard]] std::vector<std::string> body_of(std::size_t line) const;
  // The lines under it, up to here.
  [[nodiscard]] std::size_t end_of(std::size_t line) const;
  // The line that it stands under.
  [[nodiscard]] std::optional<std::size_t> above(std::size_t line) const;
  // An `if` before it in its block, under which the block is left: "if step % 8: continue".
  [[nodiscard]] std::optional<std::size_t> left_before(std::size_t line) const;
  // The loops of its function that it is in.
  [[nodiscard]] std::size_t loops_around(std::size_t line) const;
  // The `def` that it is in.
  [[nodiscard]] std::optional<std::size_t> function_of(std::size_t line) const;
  [[nodiscard]] std::string name_of_function(std::size_t line) const;  // empty: in none
  [[nodiscard]] std::optional<std::size_t> definition_of(std::string_view function) const;

 private:
  void join();
  struct one_line {
    std::string code;
    std::size_t depth = 0;  // of its indentation, in letters
  };
  std::vector<one_line> lines_;
};

// What a line assigns to a name, also as one of several: "None" of "past" in
// "scores, past = zeros(8), None". Empty: it assigns nothing to it.
[[nodiscard]] std::string assigned_to(std::string_view name, const std::string& code);

// Names of the parameters of "def add(self, item: Tensor, most=3) -> None:", without self.
[[nodiscard]] std::vector<std::string> parameters_of(const std::string& definition);

// Where the bracket closes that is open before `begin`: 6 of "f(a, b)[0]" and 2.
[[nodiscard]] std::size_t end_of_call(std::string_view code, std::size_t begin);

// What a call is given, whose bracket is open before `begin`: "b" and "c[0]" of "f(b, c[0])[d]", 2.
[[nodiscard]] std::vector<std::string> arguments_at(std::string_view code, std::size_t begin);

// "Meter" of "meters.Meter(4)"; empty: it makes no object of a class.
[[nodiscard]] std::string class_made_by(const std::string& value);

// Parts of "a, f(b, c), [d]" between commas that are in no bracket.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view list);

}  // namespace memtrace::verdicts
