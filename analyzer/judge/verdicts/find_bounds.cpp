// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/filling.h"

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/program/counted_bound.h"
#include "analyzer/judge/program/cuts.h"
#include "analyzer/judge/program/made_anew.h"
#include "analyzer/judge/program/other_names.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"
#include "analyzer/judge/program/shown_bound.h"
#include "analyzer/judge/program/signs_of_end.h"
#include "analyzer/judge/program/unsettled.h"
#include "analyzer/judge/verdicts/keeper_words.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

// In how many steps it has grown without ever falling; 0: not known, or it has fallen.
[[nodiscard]] std::uint64_t steps_of(const culprit& who, const std::string& unit) {
  const bool by_steps = unit == "step" || unit == "call";
  return by_steps && who.found.evidence.teeth == 0 ? who.found.evidence.steps : 0;
}

// It grew in some of the steps alone, and not at even distances, as where the keys go on with time;
// or it has not grown for longer than ever before.
[[nodiscard]] bool keys_come_again(const culprit& who) {
  if (who.is_overdue) return true;
  const auto steps = who.found.evidence.steps;
  return 3 * who.birth_steps <= 2 * steps && !who.at_even_distances;
}

// A list of models of which each has been trained in its turn and is still on the device.
[[nodiscard]] bool is_of_finished_models(const culprit& who) {
  return who.what == attribution::category::weights && growth::is_leak(who.found.shape) &&
         !who.modules_run && !who.modules_take_turns &&
         std::ranges::any_of(who.retained_by, &retainer::grows_in_place);
}

// The sources of a program, each read once.
class sources {
 public:
  [[nodiscard]] const program_text& of(const std::string& file) {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    return texts_.try_emplace(file, code::lines_of_file(file)).first->second;
  }

 private:
  std::map<std::string, program_text> texts_;
};

// Looks for lines that bound what keeps a leak: in the file of who has the variable, then in those
// of the user's code that allocated.
class bounds {
 public:
  // `models_stay`: see is_of_finished_models().
  bounds(const trace::dictionary& names, bool models_stay)
      : names_(names), models_stay_(models_stay) {}

  void find_own(culprit& who, const std::string& unit) {
    for_each_keeper(who, [&](retainer& keeper, const std::vector<std::string>& files) {
      keeper.grows_itself = keeper.grows_itself || is_one_tensor(who, keeper);
      const auto variable = variable_of(keeper);
      keeper.bound = bound_of_queue(keeper, variable);
      if (!keeper.bound && !models_stay_) {
        const auto places = bound_by_places(keeper);
        if (places && !is_the_work_of_the_run(who, keeper, files)) keeper.bound = places;
      }
      if (keeper.bound) return;
      for (const auto& file : files) {
        const auto& program = sources_.of(file);
        keeper.bound = bound_in(program, container_of(who, keeper, variable, steps_of(who, unit)));
        if (!keeper.bound) keeper.bound = bound_elsewhere(who, keeper, program, variable, file);
        if (!keeper.bound) look_at_guards(who, keeper, program, file);
        if (!keeper.bound) {
          look_what_a_step_gives(who, keeper, program, variable);
          look_for_signs(who, keeper, program, variable, file);
          continue;
        }
        keeper.bound->file = file;
        by_object_.try_emplace(object_of(variable), *keeper.bound);
        return;
      }
    });
  }

  // Several attributes of one object (pictures and their labels) are full at once.
  void take_from_siblings(culprit& who) {
    for_each_keeper(who, [&](retainer& keeper, const std::vector<std::string>&) {
      const auto object = object_of(variable_of(keeper));
      const auto found = by_object_.find(object);
      if (keeper.bound || object.empty() || found == by_object_.end()) return;
      const auto limit = found->second.limit;
      if (limit == 0 || limit > length_by_now(who, keeper)) keeper.bound = found->second;
    });
  }

 private:
  // "pool" of "pool.pictures"; empty of a variable.
  [[nodiscard]] static std::string object_of(const std::string& variable) {
    const auto dot = variable.rfind('.');
    return dot == std::string::npos ? std::string() : variable.substr(0, dot);
  }

  // The bound of one tensor that grows: where it is made, under a name of its own; or of its owner.
  [[nodiscard]] std::optional<shown_bound> bound_elsewhere(const culprit& who,
                                                           const retainer& keeper,
                                                           const program_text& program,
                                                           const std::string& variable,
                                                           const std::string& file) const {
    if (who.birth_steps > births_of_what_streams) return std::nullopt;
    const auto line = line_in(who, file);
    if (auto found = cut_where_made(program, line, keeper.numbers)) return found;
    const auto name = made_longer_at(program, line);
    if (!name.empty()) {
      if (auto found = bound_in(program, {name, 0, keeper.blocks, keeper.numbers})) return found;
    }
    return owner_is_cut(program, variable);
  }

  // A tensor that is made anew, and larger: the containers on its path are as long as they were.
  [[nodiscard]] static bool is_one_tensor(const culprit& who, const retainer& keeper) {
    constexpr auto elsewhere = format::held_graph | format::held_traceback | format::held_hook;
    return who.birth_steps != 0 && who.birth_steps <= births_of_what_streams &&
           !who.by_more_blocks && !keeper.grows_in && !keeper.gets_longer &&
           (keeper.flags & elsewhere) == 0;
  }

  // The line of the user's code in that file that allocated; 0: none.
  [[nodiscard]] std::uint32_t line_in(const culprit& who, const std::string& file) const {
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user) return frame.file == file ? frame.line : 0;
    }
    return 0;
  }

  // All lines of the user's code in that file that lead there, the innermost first.
  [[nodiscard]] std::vector<std::uint32_t> lines_in(const culprit& who,
                                                    const std::string& file) const {
    std::vector<std::uint32_t> lines;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && frame.file == file) lines.push_back(frame.line);
    }
    return lines;
  }

  // queue.Queue(maxsize=18), which keeps its elements in `queue` and waits while it is full.
  [[nodiscard]] static std::optional<shown_bound> bound_of_queue(const retainer& keeper,
                                                                 const std::string& variable) {
    constexpr std::string_view limited = "maxsize=";
    const std::string_view numbers = keeper.numbers;
    const auto at = numbers.find(limited);
    if (!keeper.holder.ends_with("Queue") || !variable.ends_with(".queue") || at == numbers.npos)
      return std::nullopt;
    const auto rest = numbers.substr(at + limited.size());
    const auto limit = text::number_in(rest.substr(0, rest.find(','))).value_or(0);
    if (limit == 0 || limit < keeper.length) return std::nullopt;
    return shown_bound{"maxsize", limit, keeper.file, keeper.line};
  }

  // It is in what the run goes through once, element by element.
  [[nodiscard]] bool is_the_work_of_the_run(const culprit& who, const retainer& keeper,
                                            const std::vector<std::string>& files) {
    const auto container = keeper.path.substr(0, keeper.path.find('['));
    return std::ranges::any_of(files, [&](const std::string& file) {
      return is_gone_through_once(sources_.of(file), last_name(container), lines_in(who, file));
    });
  }

  // Where nothing gets longer there are no more places than there were.
  [[nodiscard]] static std::optional<shown_bound> bound_by_places(const retainer& keeper) {
    constexpr auto elsewhere = format::held_graph | format::held_traceback | format::held_hook;
    if (!keeper.grows_in_place || (keeper.flags & elsewhere) != 0) return std::nullopt;
    return shown_bound{{}, 0, keeper.file, keeper.line, bound_kind::places};
  }

  // At the end of the run, if it had so many elements for so many blocks all the time.
  [[nodiscard]] static std::uint64_t length_by_now(const culprit& who, const retainer& keeper) {
    if (!keeper.grows_in) return keeper.length;
    const auto length = keeper.grows_in->length;
    if (keeper.censuses > 1) return length;  // something else may have the latest ones
    std::uint64_t all = 0;
    for (const auto& one : who.retained_by) all += one.blocks;
    if (all != keeper.blocks || keeper.blocks == 0 || keeper.grows_in->in_elements) return length;
    return std::max(length, who.blocks * length / keeper.blocks);
  }

  [[nodiscard]] static bounded_container container_of(const culprit& who, const retainer& keeper,
                                                      const std::string& variable,
                                                      std::uint64_t steps) {
    bounded_container made{variable,       keeper.length, keeper.blocks,
                           keeper.numbers, steps,         keeper.gets_longer};
    take_level(made, who, keeper);
    return made;
  }

  // Takes the level that grows, not the longest container on the path.
  template <class Asked>
  static void take_level(Asked& what, const culprit& who, const retainer& keeper) {
    what.holder = keeper.holder;
    what.is_that = keeper.grows_in || keeper.grows_itself;
    if (keeper.grows_itself) what.length = 0;
    if (!keeper.grows_in) return;
    what.length = length_by_now(who, keeper);
    what.gets_longer = true;
    what.in_elements = keeper.grows_in->in_elements;
    what.has_elements = keeper.grows_in->has_elements;
  }

  // Conditions under which the calls that lead to the allocation are made.
  void look_at_guards(const culprit& who, retainer& keeper, const program_text& program,
                      const std::string& file) const {
    const auto steps = who.found.evidence.steps;
    const program_numbers numbers(program, keeper.numbers);
    const auto name = last_name(variable_of(keeper));
    if (name.empty()) return;
    const bound_effect container(program, name);
    for (const auto called_at : lines_in(who, file)) {
      if (called_at == 0 || called_at > program.size()) continue;
      const auto guard =
          guard_of(program, numbers, container, called_at - std::size_t{1}, steps, who.birth_steps);
      if (!guard) continue;
      const auto line = static_cast<std::uint32_t>(guard->limit.line + 1);
      if (guard->known) {
        keeper.bound = shown_bound{guard->limit.said_by, 0, file, line};
      } else if (!keeper.may_end && steps < steps_that_tell) {
        keeper.may_end = open_end{open_kind::runs_out, file, line};
      }
      return;
    }
  }

  static void look_what_a_step_gives(const culprit& who, retainer& keeper,
                                     const program_text& program, const std::string& variable) {
    const auto name = last_name(variable);
    if (who.birth_steps > births_of_what_streams || name.empty()) return;
    keeper.made_anew = keeper.made_anew || is_made_anew(program, name);
    keeper.made_of_itself = keeper.made_of_itself || is_made_of_itself(program, name);
  }

  void look_for_signs(const culprit& who, retainer& keeper, const program_text& program,
                      const std::string& variable, const std::string& file) const {
    if (keeper.may_end || who.found.evidence.steps >= steps_that_tell) return;
    gathered what{variable, keeper.length, keeper.numbers, keeper.gets_longer,
                  keys_come_again(who)};
    take_level(what, who, keeper);
    if (keeper.grows_in) what.keys = keeper.grows_in->keys;
    what.steps = who.found.evidence.steps;
    what.blocks = keeper.blocks;
    keeper.may_end = may_end(program, what);
    // One tensor that grows may be asked about under the name that it is made by.
    if (!keeper.may_end && who.birth_steps <= births_of_what_streams) {
      const auto made = made_longer_at(program, line_in(who, file));
      if (!made.empty()) {
        keeper.may_end = may_end(program, {made, 0, keeper.numbers, true, false});
      }
      if (!keeper.may_end) {
        const auto taken_out = [&](std::size_t line) {
          keeper.may_end =
              open_end{open_kind::taken_out, file, static_cast<std::uint32_t>(line + 1)};
        };
        if (const auto cut = cut_where_made(program, line_in(who, file))) {
          taken_out(cut->line);
        } else if (const auto asks = trimmed_on_the_way(program, lines_in(who, file))) {
          taken_out(*asks);
        }
      }
    }
    if (keeper.may_end) keeper.may_end->file = file;
  }

  template <class Change>
  void for_each_keeper(culprit& who, Change change) const {
    if (!growth::is_leak(who.found.shape)) return;
    std::vector<std::string> where;
    for (const auto& frame : code::frames_of(names_, who.stack)) {
      if (frame.user && std::ranges::find(where, frame.file) == where.end()) {
        where.push_back(frame.file);
      }
    }
    for (auto& keeper : who.retained_by) {
      if (is_bounded_by_kind(keeper)) continue;
      if ((keeper.flags & format::held_unreachable) != 0) continue;
      auto files = where;
      if (code::is_user_code(keeper.file)) files.insert(files.begin(), keeper.file);
      change(keeper, files);
    }
  }

  const trace::dictionary& names_;
  bool models_stay_;
  sources sources_;
  std::map<std::string, shown_bound> by_object_;
};

}  // namespace

void find_bounds(findings& found, const trace::dictionary& names) {
  bool models_stay = false;
  for (const auto& about : found.verdicts) {
    models_stay = models_stay || std::ranges::any_of(about.culprits, is_of_finished_models);
  }
  bounds shown(names, models_stay);
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) {
      // Patterns are made of a program's own names. One that is none does not end the report.
      try {
        shown.find_own(who, about.unit);
      } catch (const std::regex_error&) {
        continue;
      }
    }
  }
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) shown.take_from_siblings(who);
  }
}

}  // namespace memtrace::verdicts
