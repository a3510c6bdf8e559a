// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/program/prove.h"
#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/judge/verdicts/told_proofs.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

// In how many steps it has grown without ever falling; 0: not known, or it has fallen.
[[nodiscard]] std::uint64_t steps_of(const suspect& who, const std::string& unit) {
  const bool by_steps = unit == "step" || unit == "call";
  return by_steps && who.found.evidence.teeth == 0 ? who.found.evidence.steps : 0;
}

// A list of models of which each has been trained in its turn and is still on the device.
[[nodiscard]] bool is_of_finished_models(const suspect& who) {
  return who.what == attribution::category::weights && !who.modules_run && !who.modules_take_turns;
}

// The sources of a program, each parsed once, and what all questions about them may take together.
class sources {
 public:
  explicit sources(const trace::dictionary& names) : names_(names) {}

  // Null: the trace does not have it, or the others have taken all that may be taken.
  [[nodiscard]] const program::source_file* of(const std::string& file) {
    const auto known = parsed_.find(file);
    if (known != parsed_.end()) return known->second.get();
    const auto text = parsing_ < most_for_parsing ? code::source_of(names_, file) : std::nullopt;
    auto made = text ? std::make_unique<program::source_file>(std::string(*text)) : nullptr;
    if (made) parsing_ += made->parsed().cost();
    return parsed_.emplace(file, std::move(made)).first->second.get();
  }

  [[nodiscard]] program::answer prove(const program::source_file& source, const std::string& file,
                                      const program::question& asked) {
    auto found = program::prove(source, file, asked, std::min(looks_, program::most_looks));
    looks_ -= found.looks;
    return found;
  }

 private:
  // In bytes of memory that parsing asks for. Four megabytes of a program, which is all that a trace
  // has, take a third of it.
  static constexpr std::uint64_t most_for_parsing = 192u << 20;

  const trace::dictionary& names_;
  std::map<std::string, std::unique_ptr<program::source_file>> parsed_;
  std::uint64_t parsing_ = 0;
  std::uint64_t looks_ = program::most_looks_in_all;
};

// A tensor that is reallocated, and larger, or whose graph gets longer: the containers on its path
// are as long as they were.
[[nodiscard]] bool is_one_tensor(const suspect& who, const retainer& held_by) {
  if (held_by.grows_in || held_by.gets_longer) return false;
  if ((held_by.flags & (format::held_traceback | format::held_hook)) != 0) return false;
  if ((held_by.flags & format::held_graph) != 0) {
    return held_by.heap_scans > 1 && held_by.path.find(".grad_fn") != held_by.path.npos;
  }
  return who.generations != 0 && who.generations <= births_of_what_streams && !who.by_more_blocks;
}

// At the end of the run, if it had so many elements for so many blocks all the time.
[[nodiscard]] std::uint64_t length_by_now(const suspect& who, const retainer& held_by) {
  if (!held_by.grows_in) return held_by.length;
  const auto length = held_by.grows_in->length;
  if (held_by.heap_scans > 1) return length;  // something else may have the latest ones
  std::uint64_t all = 0;
  for (const auto& one : who.retained_by) all += one.blocks;
  if (all != held_by.blocks || held_by.blocks == 0 || held_by.grows_in->in_elements) return length;
  return std::max(length, who.blocks * length / held_by.blocks);
}

[[nodiscard]] program::question question_about(const suspect& who, const retainer& held_by,
                                               const std::string& unit, bool is_over) {
  program::question made;
  made.variable = variable_of(held_by);
  made.owner = held_by.owner;
  made.owner_line = held_by.line;
  made.container = std::string(container_class(held_by));
  made.length = length_by_now(who, held_by);
  made.numbers = held_by.numbers;
  made.steps = steps_of(who, unit);
  made.times = who.generations;
  made.is_over = is_over;
  made.by_graph = (held_by.flags & (format::held_graph | format::held_has_graph)) != 0;
  // The class is that of the innermost container's object.
  if (!grows_further_out(held_by)) made.holder = held_by.holder;
  if (held_by.grows_itself) {
    made.container.clear();
    made.length = 0;
  } else if (held_by.grows_in) {
    made.in_elements = held_by.grows_in->in_elements;
    // Its keys tell a dictionary of somebody's own class from a list.
    const bool has_keys = held_by.grows_in->keys != 0;
    if (has_keys && !program::is_dictionary(made.container)) made.container = "dict";
    if (made.in_elements) made.container = has_keys ? "dict" : "list";
  }
  return made;
}

// Each level as long as it was: its elements have something more each. That ends with the last of
// them, unless they have ever more, which a heap scan does not tell.
[[nodiscard]] bool grows_in_its_places(const suspect& who, const retainer& held_by) {
  constexpr auto elsewhere = format::held_graph | format::held_traceback | format::held_hook;
  return held_by.grows_in_place && (held_by.flags & elsewhere) == 0 && !is_of_finished_models(who);
}

class bounds {
 public:
  bounds(const trace::dictionary& names, bool is_over)
      : names_(names), sources_(names), told_(told_proofs(names)), is_over_(is_over) {}

  void find(suspect& who, const std::string& unit) {
    std::vector<std::string> where;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && std::ranges::find(where, frame.file) == where.end()) {
        where.push_back(frame.file);
      }
    }
    for (auto& held_by : who.retained_by) {
      if ((held_by.flags & format::held_unreachable) != 0) continue;
      held_by.grows_itself = held_by.grows_itself || is_one_tensor(who, held_by);
      if (is_bounded_by_kind(held_by)) {
        by_itself(held_by);
        continue;
      }
      if (is_told(who, held_by)) continue;
      if ((held_by.flags & format::held_statement) != 0) {
        read_where_made(who, held_by);
        if (is_over_) ends_with_comprehension(who, held_by);
        continue;
      }
      auto files = where;
      if (code::is_user_code(held_by.file)) files.insert(files.begin(), held_by.file);
      ask(who, held_by, files, unit);
      if (!held_by.bound && !held_by.doubt && grows_in_its_places(who, held_by)) {
        held_by.doubt = program::doubt{program::doubt_kind::places, held_by.file, held_by.line,
                                       variable_of(held_by)};
      }
    }
  }

 private:
  // Whether the trace says what was proved of the program, whose text it no longer has.
  [[nodiscard]] bool is_told(const suspect& who, retainer& held_by) const {
    const auto is_it = [&](const told_proof& one) { return one.is_about(who.stack, held_by); };
    const auto found = std::ranges::find_if(told_, is_it);
    if (found == told_.end() || std::ranges::count_if(told_, is_it) > 1) return false;
    held_by.bound = found->bound;
    held_by.doubt = found->doubt;
    held_by.reallocated = found->reallocated;
    held_by.made_of_itself = found->made_of_itself;
    held_by.read = found->read;
    held_by.is_no_cache = found->is_no_cache;
    return true;
  }

  // A deque of at most so many, an lru_cache: the container says so itself.
  static void by_itself(retainer& held_by) {
    const auto most = held_by.grows_in ? held_by.grows_in->most : limit_of(held_by.container);
    held_by.bound = program::bound{program::bound_kind::container, held_by.file, held_by.line,
                                   held_by.container, most};
  }

  void ask(const suspect& who, retainer& held_by, const std::vector<std::string>& files,
           const std::string& unit) {
    auto question = question_about(who, held_by, unit, is_over_);
    for (const auto& file : files) {
      question.running.clear();
      for (const auto& frame : code::frames_of(names_, who.stack)) {
        if (frame.file == file) question.running.push_back(frame.line);
      }
      const auto* const source = sources_.of(file);
      if (source == nullptr) continue;
      auto found = sources_.prove(*source, file, question);
      held_by.reallocated = held_by.reallocated || found.reallocated;
      held_by.made_of_itself = held_by.made_of_itself || found.made_of_itself;
      const bool is_all = !is_named_elsewhere(file, question);
      held_by.is_no_cache = held_by.is_no_cache || (found.is_no_cache && is_all);
      const bool needs_gpu = found.read.how == program::read_how::with_others;
      if (found.is_seen && (is_all || needs_gpu)) held_by.read = std::move(found.read);
      if (!held_by.doubt) held_by.doubt = std::move(found.why);
      if (found.proof) {
        held_by.doubt = grown_elsewhere(file, question);
        if (!held_by.doubt) held_by.bound = std::move(found.proof);
        return;
      }
      if (found.is_seen) return;
    }
  }

  // No variable has it yet: the line that makes it tells which one gets it.
  void read_where_made(const suspect& who, retainer& held_by) {
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      const auto* const source = frame.user ? sources_.of(frame.file) : nullptr;
      if (source == nullptr) continue;
      held_by.read = program::readings_of_line(*source, frame.line);
      held_by.read.file = frame.file;
      if (held_by.read.how != program::read_how::not_known) return;
    }
  }

  // The only comprehension among the lines that run has it.
  void ends_with_comprehension(const suspect& who, retainer& held_by) {
    std::optional<program::bound> only;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      const auto* const source = frame.user ? sources_.of(frame.file) : nullptr;
      if (source == nullptr) continue;
      auto found = program::end_of_comprehension(*source, frame.line, held_by.length);
      // A line within it may make the container as well.
      if (!found && !only && program::makes_container(*source, frame.line)) return;
      if (!found) continue;
      found->file = frame.file;
      const bool is_same = only && only->file == found->file && only->line == found->line;
      if (only && !is_same) return;
      only = std::move(found);
    }
    held_by.bound = std::move(only);
  }

  // What one file does with it is all that is done, where no other file names it.
  [[nodiscard]] bool is_named_elsewhere(const std::string& file,
                                        const program::question& question) {
    if (question.owner.starts_with("local of ")) return false;
    const auto name = question.variable.substr(question.variable.rfind('.') + 1);
    const auto word = name.substr(0, name.find('['));
    return std::ranges::any_of(names_.sources(), [&](const auto& other) {
      // Without the word there is nothing to parse for it.
      if (other.first == file || other.second.text.find(word) == std::string::npos) return false;
      const auto* const source = sources_.of(std::string(other.first));
      return source != nullptr && !source->named(word).empty();
    });
  }

  // A proof is one for its file. Another file of the program may put into the same attribute, as far
  // as names tell, and none of the lines there is bounded by what this one says.
  [[nodiscard]] std::optional<program::doubt> grown_elsewhere(const std::string& file,
                                                              program::question question) {
    if (question.variable.find('.') == question.variable.npos) return std::nullopt;
    question.running.clear();
    for (const auto& [name, unused] : names_.sources()) {
      const std::string other(name);
      const auto* const source = other == file ? nullptr : sources_.of(other);
      if (source == nullptr) continue;
      const auto found = sources_.prove(*source, other, question);
      if (found.is_seen && !found.proof) {
        return program::doubt{program::doubt_kind::elsewhere, other, 0, question.variable};
      }
    }
    return std::nullopt;
  }

  const trace::dictionary& names_;
  sources sources_;
  std::vector<told_proof> told_;
  bool is_over_;
};

}  // namespace

void find_bounds(findings& found, const trace::dictionary& names, bool is_over) {
  bounds shown(names, is_over);
  for (auto& about : found.verdicts) {
    // What grows within an evaluation ends with it, as the run has shown.
    if (about.about.kind == subject_kind::phase) continue;
    for (auto* const some : {&about.suspects, &about.unnamed}) {
      for (auto& who : *some) {
        if (growth::is_leak(who.found.shape)) shown.find(who, about.unit);
      }
    }
  }
}

}  // namespace memtrace::verdicts
