// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/serve/engine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "analyzer/base/text/numbers.h"

namespace memtrace::serve {

namespace {

namespace fs = std::filesystem;

// "455,616" of "455,616 tokens, …"; nothing: no digit stands there.
[[nodiscard]] std::optional<std::uint64_t> count_at(std::string_view text) {
  std::string digits;
  for (const char one : text) {
    if (one >= '0' && one <= '9') {
      digits += one;
    } else if (one != ',' || digits.empty()) {
      break;
    }
  }
  return text::number_in(digits);
}

[[nodiscard]] std::optional<std::string_view> behind(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == line.npos) return std::nullopt;
  return line.substr(at + mark.size());
}

void read_sizes(std::string_view line, engine_words& into) {
  const auto count = [&](std::string_view mark, std::optional<std::uint64_t>& to) {
    if (const auto rest = behind(line, mark)) {
      if (const auto number = count_at(*rest)) to = number;
    }
  };
  count("GPU KV cache size: ", into.tokens);
  count("max_total_num_tokens=", into.tokens);
  count("context_len=", into.length);
  if (const auto rest = behind(line, "Maximum concurrency for ")) {
    into.length = count_at(*rest);
    if (const auto times = behind(*rest, ": ")) {
      into.requests_at_once = std::strtod(std::string(*times).c_str(), nullptr);
    }
  }
}

constexpr std::array levels_below_error = {std::string_view("WARNING"), std::string_view("INFO "),
                                           std::string_view("DEBUG ")};

// "ValueError: To serve at least one request …" behind what a logger puts before it; empty: none.
[[nodiscard]] std::string_view exception_in(std::string_view line) {
  const auto is_of_name = [](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_' || one == '.';
  };
  for (const std::string_view ending : {"Error: ", "Exception: "}) {
    const auto at = line.find(ending);
    if (at == line.npos) continue;
    auto begin = at;
    while (begin != 0 && is_of_name(line[begin - 1])) --begin;
    // A sentence that quotes one is none: the name begins the line, or follows a logger's bracket.
    const auto before = line.substr(0, begin);
    if (std::ranges::any_of(levels_below_error,
                            [&](auto level) { return before.find(level) != before.npos; })) {
      return {};
    }
    const auto rest = before.find_last_not_of(' ');
    if (rest == before.npos || before[rest] == ']' || before[rest] == ')') {
      return line.substr(begin);
    }
  }
  return {};
}

[[nodiscard]] bool ends_with_word(const std::string& path, std::string_view name) {
  return fs::path(path).filename() == name;
}

// The place in the command behind the words that start a server; 0: it starts none that is known.
[[nodiscard]] std::size_t behind_server(const std::vector<std::string>& command) {
  for (std::size_t at = 0; at + 1 < command.size(); ++at) {
    const auto& next = command[at + 1];
    if (next == "serve" &&
        (ends_with_word(command[at], "vllm") || ends_with_word(command[at], "sglang"))) {
      return at + 2;
    }
    if (command[at] == "-m" &&
        (next == "vllm.entrypoints.openai.api_server" || next == "sglang.launch_server")) {
      return at + 2;
    }
  }
  return 0;
}

// What the command says for the flag, written with dashes or underscores; "" for one without a
// value.
[[nodiscard]] std::optional<std::string> value_of(const std::vector<std::string>& command,
                                                  std::string_view flag) {
  for (std::size_t at = 0; at < command.size(); ++at) {
    const auto equals = std::min(command[at].find('='), command[at].size());
    auto name = command[at].substr(0, equals);
    if (!name.starts_with("--")) continue;
    std::ranges::replace(name, '_', '-');
    if (name != flag) continue;
    if (equals != command[at].size()) return command[at].substr(equals + 1);
    const bool has_value = at + 1 < command.size() && !command[at + 1].starts_with('-');
    return has_value ? command[at + 1] : std::string();
  }
  return std::nullopt;
}

// The folder of the model; empty: it is a name on the hub.
[[nodiscard]] std::string model_of(const std::vector<std::string>& command, std::size_t from) {
  for (const std::string_view flag : {"--model", "--model-path"}) {
    if (const auto named = value_of(command, flag)) return *named;
  }
  for (std::size_t at = from; at < command.size(); ++at) {
    std::error_code error;
    if (fs::exists(fs::path(command[at]) / "config.json", error)) return command[at];
  }
  return {};
}

// A folder with a configuration alone.
[[nodiscard]] bool lacks_tokenizer(const std::string& model) {
  std::error_code error;
  if (!fs::is_directory(model, error)) return false;
  constexpr std::array files = {"tokenizer.json", "tokenizer_config.json", "tokenizer.model",
                                "vocab.json", "tekken.json"};
  return std::ranges::none_of(
      files, [&](const char* file) { return fs::exists(fs::path(model) / file, error); });
}

}  // namespace

engine_words words_of(std::string_view output) {
  engine_words found;
  std::map<std::string, engine_words, std::less<>> engines;  // by what is in front of their lines
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    const auto name = line.starts_with("(EngineCore") ? line.substr(0, line.find(')')) : "";
    read_sizes(line, engines[std::string(name)]);
    if (found.trouble.empty()) found.trouble = exception_in(line);
  }
  for (const auto& [engine, said] : engines) {
    if (said.tokens) found.tokens = found.tokens.value_or(0) + *said.tokens;
    if (said.length) found.length = said.length;
    if (said.requests_at_once) {
      found.requests_at_once = found.requests_at_once.value_or(0) + *said.requests_at_once;
    }
  }
  while (!found.trouble.empty() && std::isspace(static_cast<unsigned char>(found.trouble.back()))) {
    found.trouble.pop_back();
  }
  return found;
}

std::vector<std::string> do_without_weights(fit::launch& start,
                                            const std::vector<std::string>& variables) {
  auto& command = start.command;
  const auto from = behind_server(command);
  std::vector<std::string> added;
  if (from == 0) return added;
  if (!value_of(command, "--load-format")) {
    command.insert(command.end(), {"--load-format", "dummy"});
    added.emplace_back("--load-format dummy: no weights are read");
  }
  const bool has_tokenizer = value_of(command, "--skip-tokenizer-init") ||
                             value_of(command, "--tokenizer") ||
                             value_of(command, "--tokenizer-path");
  if (!has_tokenizer && lacks_tokenizer(model_of(command, from))) {
    command.emplace_back("--skip-tokenizer-init");
    added.emplace_back("--skip-tokenizer-init: the model's folder has no tokenizer");
  }
  const std::string sampler = "VLLM_USE_FLASHINFER_SAMPLER";  // compiles CUDA when it starts
  const bool is_vllm = std::ranges::any_of(command, [](const std::string& word) {
    return ends_with_word(word, "vllm") || word.starts_with("vllm.");
  });
  if (is_vllm && std::ranges::find(variables, sampler) == variables.end()) {
    start.environment.emplace_back(sampler, "0");
    added.emplace_back(sampler + "=0: FlashInfer's sampler needs nvcc");
  }
  return added;
}

std::uint64_t port_of(const std::vector<std::string>& command) {
  constexpr std::uint64_t of_vllm = 8000, of_sglang = 30000;
  if (const auto named = value_of(command, "--port")) {
    return text::number_in<std::uint64_t>(*named).value_or(0);
  }
  const auto from = behind_server(command);
  if (from == 0) return 0;
  return command[from - 1].starts_with("sglang") || ends_with_word(command[from - 2], "sglang")
             ? of_sglang
             : of_vllm;
}

}  // namespace memtrace::serve
