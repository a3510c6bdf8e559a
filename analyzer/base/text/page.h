// SPDX-License-Identifier: Apache-2.0
//
// Lines of text with a little style, cut to the terminal's width where there is one. Characters
// that would control the terminal are shown as '?', whatever program they came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::text {

// How lines are shown: on a terminal, or into a file.
struct style {
  bool colour = false;
  unsigned width = 0;  // columns; longer lines are cut, unless 0
};

// The width that text is made for where no terminal says another.
inline constexpr std::size_t usual_columns = 96;

[[nodiscard]] constexpr std::size_t columns_of(const style& how) {
  return how.width == 0 ? usual_columns : how.width;
}

enum class emphasis { none, heading, alarm, faint };

class page {
 public:
  page() = default;
  explicit page(std::size_t columns) : columns_(columns) {}  // for sentences; 0: any number

  // A sentence goes on in as many lines as it needs, the others a little further in.
  void sentence(std::string_view text, emphasis how = emphasis::none);
  // Under a heading: the sentence goes on below itself, not below its label, which may be empty.
  void item(std::string_view label, std::string_view text);
  // A row of a table is cut where it does not fit.
  void line(std::string_view text, emphasis how = emphasis::none);
  void blank() { line({}); }
  [[nodiscard]] std::size_t lines() const { return lines_.size(); }
  [[nodiscard]] std::string render(bool colour, unsigned width) const;

 private:
  struct entry {
    std::string text;
    emphasis how;
  };
  std::vector<entry> lines_;
  std::size_t columns_ = 0;
};

// Lines of at most `columns` characters, broken at spaces; a longer word has a line of its own.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// The first `columns` characters of UTF-8 text, with … when something is cut.
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);
// The same after a whole word, where the first half of the columns does not have the last one.
[[nodiscard]] std::string cut_at_word(std::string_view text, std::size_t columns);

// The parts that are not empty, with `between` between them.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace memtrace::text
