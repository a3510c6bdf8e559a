// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/help/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "analyzer/base/text/page.h"

namespace memtrace::cli::help {

namespace {

constexpr std::size_t left_column = 26;

// Of UTF-8, each letter one column.
[[nodiscard]] std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

[[nodiscard]] std::string paragraph(std::string_view said) {
  std::string out;
  for (const auto& line : text::wrap(said, widest)) out += line + "\n";
  return out;
}

// What the validators say, behind the name of the value: "INT in [0 - 16]", "{a,b}".
[[nodiscard]] std::string_view limits_in(std::string_view type_name) {
  const auto colon = type_name.find(':');
  return colon == type_name.npos ? std::string_view() : type_name.substr(colon + 1);
}

[[nodiscard]] std::string range_of(const CLI::Option& option) {
  const auto type_name = option.get_type_name();
  const auto limits = limits_in(type_name);
  const auto open = limits.find(" in ["), to = limits.find(" - ", open == limits.npos ? 0 : open);
  if (open == limits.npos || to == limits.npos) return {};
  const auto least = limits.substr(open + 5, to - open - 5);
  const auto most = limits.substr(to + 3, limits.find(']') - to - 3);
  return fmt::format("{} to {}", least, most);
}

[[nodiscard]] std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const auto* one : options) names.push_back(one->get_name());
  std::ranges::sort(names);  // a set of pointers has another order each time
  return CLI::detail::join(names, ", ");
}

}  // namespace

std::string entry(const std::string& left, const std::string& said) {
  std::string out = "  " + left;
  const auto width = columns_of(out);
  bool is_first = width + 2 <= left_column;
  if (is_first) out += std::string(left_column - width, ' ');
  for (const auto& line : text::wrap(said, widest - left_column)) {
    if (!std::exchange(is_first, false)) out += "\n" + std::string(left_column, ' ');
    out += line;
  }
  return out + "\n";
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

std::string value_of(const CLI::Option& option) {
  if (is_flag(option)) return {};
  const auto type_name = option.get_type_name();
  auto value = type_name.substr(0, type_name.find(':'));
  if (option.get_delimiter() != '\0') return value + "[,…]";
  const bool is_list = option.get_items_expected_max() > 1 && option.get_allow_extra_args();
  return is_list ? value + "…" : value;
}

std::string left_of(const CLI::Option& option) {
  if (option.get_positional()) {
    return option.get_name(true) + (option.get_items_expected_max() > 1 ? "…" : "");
  }
  const auto value = value_of(option);
  return option.get_name(false, true) + (value.empty() ? "" : " " + value);
}

std::string said_of(const CLI::Option& option) {
  auto said = option.get_description();
  std::vector<std::string> more;
  const auto choices = choices_of(option);
  if (!choices.empty() && choices.size() < 8) more.push_back(CLI::detail::join(choices, ", "));
  if (auto range = range_of(option); !range.empty()) more.push_back(std::move(range));
  if (const auto usual = option.get_default_str(); !usual.empty()) {
    more.push_back("default " + usual);
  }
  if (!option.get_envname().empty()) more.push_back("or the variable " + option.get_envname());
  if (!option.get_needs().empty()) more.push_back("with " + names_of(option.get_needs()));
  if (!option.get_excludes().empty()) {
    more.push_back("not with " + names_of(option.get_excludes()));
  }
  if (more.empty()) return said;
  const auto together = CLI::detail::join(more, "; ");
  if (!said.ends_with(')')) return fmt::format("{} ({})", said, together);
  said.back() = ';';
  return fmt::format("{} {})", said, together);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const auto type_name = option.get_type_name();
  const auto limits = limits_in(type_name);
  const auto open = limits.find('{'), close = limits.find('}');
  if (open == limits.npos || close == limits.npos) return {};
  return CLI::detail::split(std::string(limits.substr(open + 1, close - open - 1)), ',');
}

CLI::Validator known_values(const std::vector<std::string>& values) {
  return {[](std::string&) { return std::string(); }, "{" + CLI::detail::join(values) + "}"};
}

std::string usage_of(const CLI::App& app) {
  const auto* const own = dynamic_cast<const page*>(app.get_formatter().get());
  if (own != nullptr && !own->follows().empty()) return own->follows();
  std::string out = "[OPTIONS]";
  for (const auto* one : options_of(app)) {
    if (one->get_required()) out = left_of(*one) + " " + out;
  }
  for (const auto* one : positionals_of(app)) {
    out += one->get_required() ? " " + left_of(*one) : " [" + left_of(*one) + "]";
  }
  return out;
}

std::string page::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  auto out = paragraph(app->get_description());
  out += fmt::format("\nUsage: {} {}\n", name, usage_of(*app));
  std::string group;
  for (const auto* one : subcommands_of(*app)) {
    if (one->get_group() != std::exchange(group, one->get_group())) out += "\n" + group + ":\n";
    out += entry(one->get_name(), one->get_description());
  }
  const auto positionals = positionals_of(*app);
  if (!positionals.empty()) out += "\nArguments:\n";
  for (const auto* one : positionals) out += entry(left_of(*one), said_of(*one));
  const auto options = options_of(*app);
  if (!options.empty()) out += "\nOptions:\n";
  for (const auto* one : options) out += entry(left_of(*one), said_of(*one));
  const auto footer = app->get_footer();
  return footer.empty() ? out : out + "\n" + footer;
}

}  // namespace memtrace::cli::help
