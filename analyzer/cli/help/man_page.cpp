// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "analyzer/cli/help/completion.h"
#include "analyzer/cli/help/page.h"

namespace memtrace::cli::help {

namespace {

// One letter of UTF-8 as a number, and how many bytes it has.
struct letter_at {
  unsigned value = 0;
  std::size_t bytes = 1;
};
[[nodiscard]] letter_at letter_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned value = bytes == 1 ? first : first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes && i < text.size(); ++i) {
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  return {value, bytes};
}

// As roff takes it: nothing in it is a request, and a hyphen can be copied.
[[nodiscard]] std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  while (!text.empty()) {
    const auto [value, bytes] = letter_of(text);
    if (value >= 0x80) {
      out += fmt::format("\\[u{:04X}]", value);
    } else if (value == '\\') {
      out += "\\e";
    } else if (value == '-') {
      out += "\\-";
    } else if (value == '\'') {
      out += "\\(aq";
    } else {
      out += static_cast<char>(value);
    }
    text.remove_prefix(std::min(bytes, text.size()));
  }
  return out;
}

[[nodiscard]] std::string tagged(const std::string& tag, const std::string& said) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(tag), roff(said));
}

// "Title:" and its lines, which are indented: as they are.
[[nodiscard]] std::string sections_of(const std::string& footer) {
  std::string out;
  bool is_open = false;
  const auto close = [&] {
    if (is_open) out += ".fi\n.RE\n";
    is_open = false;
  };
  for (const auto& line : CLI::detail::split(footer, '\n')) {
    if (line.empty()) continue;
    if (line.starts_with("  ")) {
      out += roff(std::string_view(line).substr(2)) + "\n";
      continue;
    }
    close();
    out += fmt::format(".PP\n{}\n", roff(line));
    if (!line.ends_with(':')) continue;
    out += ".RS 4\n.nf\n";
    is_open = true;
  }
  close();
  return out;
}

}  // namespace

std::string man_page(const CLI::App& root, const std::string& version) {
  auto out = fmt::format(
      ".TH MEMTRACE 1 \"\" \"memtrace {}\" \"User Commands\"\n"
      ".SH NAME\nmemtrace \\- where GPU memory goes in PyTorch training\n"
      ".SH SYNOPSIS\n\\fBmemtrace\\fR {}\n.SH DESCRIPTION\n{}\n",
      roff(version), roff(usage_of(root)), roff(root.get_description()));
  const auto subcommands = subcommands_of(root);
  for (const auto* sub : subcommands) out += tagged(sub->get_name(), sub->get_description());
  out += ".SH OPTIONS\nThese may stand before or after the subcommand.\n";
  for (const auto* option : options_of(root)) out += tagged(left_of(*option), said_of(*option));
  out += ".SH SUBCOMMANDS\n";
  for (const auto* sub : subcommands) {
    out += fmt::format(".SS memtrace {} {}\n{}.\n", roff(sub->get_name()), roff(usage_of(*sub)),
                       roff(sub->get_description()));
    for (const auto* one : positionals_of(*sub)) out += tagged(left_of(*one), said_of(*one));
    for (const auto* one : options_of(*sub)) out += tagged(left_of(*one), said_of(*one));
    out += sections_of(sub->get_footer());
  }
  return out;
}

}  // namespace memtrace::cli::help
