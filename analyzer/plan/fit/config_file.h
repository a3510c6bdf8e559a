// SPDX-License-Identifier: Apache-2.0
//
// A key of a YAML or JSON file that a command names, set to another value in a copy of the file.
// Of YAML only the line of the key is changed: mappings written one key a line, as configurations
// are, and nothing of its other syntax.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memtrace::fit {

struct config_place {
  std::string file;
  std::string key;  // "train.batch"
  std::string value;
};
// Of "config.yaml:train.batch={}"; empty: it is no such text.
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

}  // namespace memtrace::fit
