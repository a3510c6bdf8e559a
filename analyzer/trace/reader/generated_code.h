// SPDX-License-Identifier: Apache-2.0
//
// Python code that torch.compile generated, and what its lines stand for. An allocation there is
// shown as if the program's own lines had run:
//
//   recorded:  train.py:40 ─► …/eval_frame.py ─► cxgfnc7p.py:1034 call
//   told:      cxgfnc7p.py:1034 is made of gpt.py:23 ─► gpt.py:17, in module h.0.mlp.gelu
//   shown:     train.py:40 ─► …/eval_frame.py ─► gpt.py:23 ─► gpt.py:17, in module h.0.mlp.gelu
//
// In a backward pass the lines are those of the forward call, and stand in scope.forward, as they
// do without a compiler.
//
// The same file may have been compiled for several modules that are alike, and code that was
// compiled for one module may run for another of the same class: the module that was seen running
// chooses, and names the way from the one to the other.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

class generated_code {
 public:
  // Rows beyond are left out: far above what any program compiles.
  static constexpr std::size_t max_rows = 1u << 20;

  explicit generated_code(dictionary& names) : names_(names) {}

  // A storage record of the role `generated`.
  void learn(const storage_event& row);
  void learn(const module_event& named);

  // Puts the program's lines and module in the place of the generated line, if there is one.
  void show(scope& where, stack_id& stack) {
    if (!lines_.empty() && stack) put(where, stack);
  }

 private:
  struct source {
    stack_id lines;
    object_id module;
  };
  struct compilation {  // of one line
    object_id owner;
    bool backward = false;
    std::vector<source> sources;  // the first is the line's own; the rest is fused with it
  };
  using line_number = std::uint32_t;  // index in compilations_
  struct module_place {
    object_id root;
    std::string_view path;
    [[nodiscard]] auto operator<=>(const module_place&) const = default;
  };

  void put(scope& where, stack_id& stack);
  [[nodiscard]] line_number line_of(stack_id stack);
  [[nodiscard]] line_number find_line(stack_id stack) const;
  [[nodiscard]] const compilation& chosen(line_number line, const scope& where) const;
  [[nodiscard]] object_id module_of(const compilation& made, object_id running) const;
  [[nodiscard]] stack_id on_top_of(stack_id outer, const compilation& made);
  void note_fused(const compilation& made, stack_id shown);
  [[nodiscard]] static std::uint64_t key(text_id file, std::uint32_t line) {
    return std::uint64_t{file.value} << 32 | line;
  }

  dictionary& names_;
  std::size_t rows_ = 0;
  std::unordered_map<std::uint64_t, line_number> lines_;  // by file and line
  std::vector<std::vector<compilation>> compilations_;    // by line_number
  std::vector<line_number> of_stack_;  // by stack; 0: not asked yet, 1: none, else number + 2
  std::map<std::pair<stack_id, stack_id>, stack_id> shown_;  // outer, lines
  std::map<object_id, module_place> places_;
  std::map<module_place, object_id> modules_;
};

}  // namespace memtrace::trace
