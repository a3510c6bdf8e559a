// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/program/counted_bound.h"
#include "analyzer/judge/program/cuts.h"
#include "analyzer/judge/program/inconclusive.h"
#include "analyzer/judge/program/other_names.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"
#include "analyzer/judge/program/reallocated.h"
#include "analyzer/judge/program/shown_bound.h"
#include "analyzer/judge/program/signs_of_end.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

// In how many steps it has grown without ever falling; 0: not known, or it has fallen.
[[nodiscard]] std::uint64_t steps_of(const suspect& who, const std::string& unit) {
  const bool by_steps = unit == "step" || unit == "call";
  return by_steps && who.found.evidence.teeth == 0 ? who.found.evidence.steps : 0;
}

// It grew in some of the steps alone, and not at even distances, as where the keys go on with time;
// or it has not grown for longer than ever before.
[[nodiscard]] bool keys_come_again(const suspect& who) {
  if (who.is_overdue) return true;
  const auto steps = who.found.evidence.steps;
  return 3 * who.generations <= 2 * steps && !who.at_even_distances;
}

// A list of models of which each has been trained in its turn and is still on the device.
[[nodiscard]] bool is_of_finished_models(const suspect& who) {
  return who.what == attribution::category::weights && growth::is_leak(who.found.shape) &&
         !who.modules_run && !who.modules_take_turns &&
         std::ranges::any_of(who.retained_by, &retainer::grows_in_place);
}

// The sources of a program, each read once.
class sources {
 public:
  explicit sources(const trace::dictionary& names) : names_(names) {}

  [[nodiscard]] const program_text& of(const std::string& file) {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    const auto text = code::source_of(names_, file).value_or(std::string_view());
    return texts_.try_emplace(file, code::lines_of(text)).first->second;
  }

 private:
  const trace::dictionary& names_;
  std::map<std::string, program_text> texts_;
};

// Looks for lines that bound what keeps a leak: in the file of who has the variable, then in those
// of the user's code that allocated.
class bounds {
 public:
  // `models_stay`: see is_of_finished_models().
  bounds(const trace::dictionary& names, bool models_stay)
      : names_(names), models_stay_(models_stay) {}

  void find_own(suspect& who, const std::string& unit) {
    for_each_retainer(who, [&](retainer& held_by, const std::vector<std::string>& files) {
      held_by.grows_itself = held_by.grows_itself || is_one_tensor(who, held_by);
      const auto variable = variable_of(held_by);
      held_by.bound = bound_of_queue(held_by, variable);
      if (!held_by.bound && !models_stay_) {
        const auto places = bound_by_places(held_by);
        if (places && !is_the_work_of_the_run(who, held_by, files)) held_by.bound = places;
      }
      if (held_by.bound) return;
      for (const auto& file : files) {
        const auto& program = sources_.of(file);
        held_by.bound =
            bound_in(program, container_of(who, held_by, variable, steps_of(who, unit)));
        if (!held_by.bound) held_by.bound = bound_elsewhere(who, held_by, program, variable, file);
        if (!held_by.bound) look_at_guards(who, held_by, program, file);
        if (!held_by.bound) {
          look_what_a_step_gives(who, held_by, program, variable);
          look_for_signs(who, held_by, program, variable, file);
          continue;
        }
        held_by.bound->file = file;
        by_object_.try_emplace(object_of(variable), *held_by.bound);
        return;
      }
    });
  }

  // Several attributes of one object (pictures and their labels) are full at once.
  void take_from_siblings(suspect& who) {
    for_each_retainer(who, [&](retainer& held_by, const std::vector<std::string>&) {
      const auto object = object_of(variable_of(held_by));
      const auto found = by_object_.find(object);
      if (held_by.bound || object.empty() || found == by_object_.end()) return;
      const auto limit = found->second.limit;
      if (limit == 0 || limit > length_by_now(who, held_by)) held_by.bound = found->second;
    });
  }

 private:
  // "pool" of "pool.pictures"; empty of a variable.
  [[nodiscard]] static std::string object_of(const std::string& variable) {
    const auto dot = variable.rfind('.');
    return dot == std::string::npos ? std::string() : variable.substr(0, dot);
  }

  // The bound of one tensor that grows: where it is made, under a name of its own; or of its owner.
  [[nodiscard]] std::optional<shown_bound> bound_elsewhere(const suspect& who,
                                                           const retainer& held_by,
                                                           const program_text& program,
                                                           const std::string& variable,
                                                           const std::string& file) const {
    if (who.generations > births_of_what_streams) return std::nullopt;
    const auto line = line_in(who, file);
    if (auto found = cut_where_made(program, line, held_by.numbers)) return found;
    const auto name = made_longer_at(program, line);
    if (!name.empty()) {
      if (auto found = bound_in(program, {name, 0, held_by.blocks, held_by.numbers})) return found;
    }
    return owner_is_cut(program, variable);
  }

  // A tensor that is reallocated, and larger: the containers on its path are as long as they were.
  [[nodiscard]] static bool is_one_tensor(const suspect& who, const retainer& held_by) {
    constexpr auto elsewhere = format::held_graph | format::held_traceback | format::held_hook;
    return who.generations != 0 && who.generations <= births_of_what_streams &&
           !who.by_more_blocks && !held_by.grows_in && !held_by.gets_longer &&
           (held_by.flags & elsewhere) == 0;
  }

  // The line of the user's code in that file that allocated; 0: none.
  [[nodiscard]] std::uint32_t line_in(const suspect& who, const std::string& file) const {
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user) return frame.file == file ? frame.line : 0;
    }
    return 0;
  }

  // All lines of the user's code in that file that lead there, the innermost first.
  [[nodiscard]] std::vector<std::uint32_t> lines_in(const suspect& who,
                                                    const std::string& file) const {
    std::vector<std::uint32_t> lines;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && frame.file == file) lines.push_back(frame.line);
    }
    return lines;
  }

  // queue.Queue(maxsize=18), which keeps its elements in `queue` and waits while it is full.
  [[nodiscard]] static std::optional<shown_bound> bound_of_queue(const retainer& held_by,
                                                                 const std::string& variable) {
    constexpr std::string_view limited = "maxsize=";
    const std::string_view numbers = held_by.numbers;
    const auto at = numbers.find(limited);
    if (!held_by.holder.ends_with("Queue") || !variable.ends_with(".queue") || at == numbers.npos)
      return std::nullopt;
    const auto rest = numbers.substr(at + limited.size());
    const auto limit = text::number_in(rest.substr(0, rest.find(','))).value_or(0);
    if (limit == 0 || limit < held_by.length) return std::nullopt;
    return shown_bound{"maxsize", limit, held_by.file, held_by.line};
  }

  // It is in what the run goes through once, element by element.
  [[nodiscard]] bool is_the_work_of_the_run(const suspect& who, const retainer& held_by,
                                            const std::vector<std::string>& files) {
    const auto container = held_by.path.substr(0, held_by.path.find('['));
    return std::ranges::any_of(files, [&](const std::string& file) {
      return is_gone_through_once(sources_.of(file), last_name(container), lines_in(who, file));
    });
  }

  // Where nothing gets longer there are no more places than there were.
  [[nodiscard]] static std::optional<shown_bound> bound_by_places(const retainer& held_by) {
    constexpr auto elsewhere = format::held_graph | format::held_traceback | format::held_hook;
    if (!held_by.grows_in_place || (held_by.flags & elsewhere) != 0) return std::nullopt;
    return shown_bound{{}, 0, held_by.file, held_by.line, bound_kind::places};
  }

  // At the end of the run, if it had so many elements for so many blocks all the time.
  [[nodiscard]] static std::uint64_t length_by_now(const suspect& who, const retainer& held_by) {
    if (!held_by.grows_in) return held_by.length;
    const auto length = held_by.grows_in->length;
    if (held_by.heap_scans > 1) return length;  // something else may have the latest ones
    std::uint64_t all = 0;
    for (const auto& one : who.retained_by) all += one.blocks;
    if (all != held_by.blocks || held_by.blocks == 0 || held_by.grows_in->in_elements)
      return length;
    return std::max(length, who.blocks * length / held_by.blocks);
  }

  [[nodiscard]] static bounded_container container_of(const suspect& who, const retainer& held_by,
                                                      const std::string& variable,
                                                      std::uint64_t steps) {
    bounded_container made{variable,        held_by.length, held_by.blocks,
                           held_by.numbers, steps,          held_by.gets_longer};
    take_level(made, who, held_by);
    return made;
  }

  // Takes the level that grows, not the longest container on the path.
  template <class Asked>
  static void take_level(Asked& what, const suspect& who, const retainer& held_by) {
    what.holder = held_by.holder;
    what.is_that = held_by.grows_in || held_by.grows_itself;
    if (held_by.grows_itself) what.length = 0;
    if (!held_by.grows_in) return;
    what.length = length_by_now(who, held_by);
    what.gets_longer = true;
    what.in_elements = held_by.grows_in->in_elements;
    what.has_elements = held_by.grows_in->has_elements;
  }

  // Conditions under which the calls that lead to the allocation are made.
  void look_at_guards(const suspect& who, retainer& held_by, const program_text& program,
                      const std::string& file) const {
    const auto steps = who.found.evidence.steps;
    const program_numbers numbers(program, held_by.numbers);
    const auto name = last_name(variable_of(held_by));
    if (name.empty()) return;
    const bound_effect container(program, name);
    for (const auto called_at : lines_in(who, file)) {
      if (called_at == 0 || called_at > program.size()) continue;
      const auto guard =
          guard_of(program, numbers, container, called_at - std::size_t{1}, steps, who.generations);
      if (!guard) continue;
      const auto line = static_cast<std::uint32_t>(guard->limit.line + 1);
      if (guard->known) {
        held_by.bound = shown_bound{guard->limit.said_by, 0, file, line};
      } else if (!held_by.may_end && steps < steps_that_tell) {
        held_by.may_end = open_end{open_kind::runs_out, file, line};
      }
      return;
    }
  }

  static void look_what_a_step_gives(const suspect& who, retainer& held_by,
                                     const program_text& program, const std::string& variable) {
    const auto name = last_name(variable);
    if (who.generations > births_of_what_streams || name.empty()) return;
    held_by.reallocated = held_by.reallocated || is_reallocated(program, name);
    held_by.made_of_itself = held_by.made_of_itself || is_made_of_itself(program, name);
  }

  void look_for_signs(const suspect& who, retainer& held_by, const program_text& program,
                      const std::string& variable, const std::string& file) const {
    if (held_by.may_end || who.found.evidence.steps >= steps_that_tell) return;
    gathered what{variable, held_by.length, held_by.numbers, held_by.gets_longer,
                  keys_come_again(who)};
    take_level(what, who, held_by);
    if (held_by.grows_in) what.keys = held_by.grows_in->keys;
    what.steps = who.found.evidence.steps;
    what.blocks = held_by.blocks;
    held_by.may_end = may_end(program, what);
    // One tensor that grows may be asked about under the name that it is made by.
    if (!held_by.may_end && who.generations <= births_of_what_streams) {
      const auto made = made_longer_at(program, line_in(who, file));
      if (!made.empty()) {
        held_by.may_end = may_end(program, {made, 0, held_by.numbers, true, false});
      }
      if (!held_by.may_end) {
        const auto taken_out = [&](std::size_t line) {
          held_by.may_end =
              open_end{open_kind::taken_out, file, static_cast<std::uint32_t>(line + 1)};
        };
        if (const auto cut = cut_where_made(program, line_in(who, file))) {
          taken_out(cut->line);
        } else if (const auto asks = trimmed_on_the_way(program, lines_in(who, file))) {
          taken_out(*asks);
        }
      }
    }
    if (held_by.may_end) held_by.may_end->file = file;
  }

  template <class Change>
  void for_each_retainer(suspect& who, Change change) const {
    if (!growth::is_leak(who.found.shape)) return;
    std::vector<std::string> where;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && std::ranges::find(where, frame.file) == where.end()) {
        where.push_back(frame.file);
      }
    }
    for (auto& held_by : who.retained_by) {
      if (is_bounded_by_kind(held_by)) continue;
      if ((held_by.flags & format::held_unreachable) != 0) continue;
      auto files = where;
      if (code::is_user_code(held_by.file)) files.insert(files.begin(), held_by.file);
      change(held_by, files);
    }
  }

  const trace::dictionary& names_;
  bool models_stay_;
  sources sources_{names_};
  std::map<std::string, shown_bound> by_object_;
};

}  // namespace

void find_bounds(findings& found, const trace::dictionary& names) {
  bool models_stay = false;
  for (const auto& about : found.verdicts) {
    models_stay = models_stay || std::ranges::any_of(about.suspects, is_of_finished_models);
  }
  bounds shown(names, models_stay);
  for (auto& about : found.verdicts) {
    for (auto& who : about.suspects) {
      // Patterns are made of a program's own names. One that is none does not end the report.
      try {
        shown.find_own(who, about.unit);
      } catch (const std::regex_error&) {
        continue;
      }
    }
  }
  for (auto& about : found.verdicts) {
    for (auto& who : about.suspects) shown.take_from_siblings(who);
  }
}

}  // namespace memtrace::verdicts
