// SPDX-License-Identifier: Apache-2.0
//
// Where a program takes a value from, as the user writes it, with {} for the value:
//
//   --batch-size {}            words of the command: in place of the same flag, else appended
//   model.batch={}             the same, for one word that holds both
//   env:BATCH={}               a variable of the environment
//   config.yaml:train.batch={} a key of a file: a changed copy is named in its place
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace memtrace::fit {

// A key of a YAML or JSON file that a command names, set to another value in a copy of the file.
// In YAML only the line of the key is changed: mappings written one key a line, as configurations
// are, and nothing else of its syntax.
struct config_place {
  std::string file;
  std::string key;  // "train.batch"
  std::string value;
};
// Splits "config.yaml:train.batch={}"; empty: it is no such text.
[[nodiscard]] std::optional<config_place> split_config_place(const std::string& text);

// The text with the key's value replaced. False: there is no such key, and `text` is as it was.
[[nodiscard]] bool set_in_json(std::string& text, const std::string& key, const std::string& value);
[[nodiscard]] bool set_in_yaml(std::string& text, const std::string& key, const std::string& value);

// Writes the copy into `folder` and names it in the command in place of the file. Otherwise why
// not, as a sentence; empty: it is done.
[[nodiscard]] std::string put_into_config(const std::string& file, const std::string& key,
                                          const std::string& value,
                                          std::vector<std::string>& command,
                                          const std::string& folder);

// A start: the program with its arguments, and the variables added to its environment.
struct launch {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

struct complaint {
  std::string sentence;
};

class value_place {
 public:
  // `option`: that it was given with, for the sentence.
  [[nodiscard]] static std::variant<value_place, complaint> parse(const std::string& text,
                                                                  const std::string& option);

  // Copies of files are made in `folder`. Otherwise why not, as a sentence; empty: it is done.
  [[nodiscard]] std::string put(const std::string& value, launch& into,
                                const std::string& folder) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  // Whether the command has the flag already, with a number; empty: no.
  [[nodiscard]] std::string value_in(const launch& of) const;
  // The file whose key is set; empty: none.
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  enum class kind : std::uint8_t { words, variable, file };
  // A flag with what follows it: "--batch-size", "{}".
  using words = std::vector<std::string>;

  std::string text_;
  kind kind_ = kind::words;
  std::vector<words> groups_;
  std::string name_;  // of the variable, or the key
  std::string file_;
  std::string pattern_;  // of what is written there: "{}"
};

// Words put into the command as --vary does, without a value: flags in place of the same flags.
void put_words(const std::vector<std::string>& words, launch& into);
// As a shell splits them, with quotes and backslashes but nothing else of it.
[[nodiscard]] std::vector<std::string> words_of(const std::string& text);

}  // namespace memtrace::fit
