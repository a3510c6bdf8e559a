// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/prove.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

// Classes of Python's own, by their whole names.
constexpr std::array<std::string_view, 4> queues = {"Queue", "SimpleQueue", "LifoQueue",
                                                    "PriorityQueue"};
constexpr std::array<std::string_view, 8> dictionaries = {
    "dict",     "OrderedDict",       "defaultdict",         "Counter",
    "ChainMap", "WeakKeyDictionary", "WeakValueDictionary", "set"};

template <std::size_t N>
[[nodiscard]] bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// The variable that the heap scan names, as the program's scopes have it.
[[nodiscard]] std::optional<variable> variable_of(const source_file& file, const question& asked) {
  std::string name = asked.variable;
  bool elements = asked.in_elements;
  // cache['users']: one of the containers in it.
  std::string key;
  while (name.ends_with("']") || name.ends_with("[…]")) {
    const auto open = name.rfind('[');
    if (open == name.npos || open == 0) return std::nullopt;
    const bool is_word = name.ends_with("']") && !elements;
    if (is_word) key = name.substr(open + 2, name.size() - open - 4);
    name.resize(open);
    elements = true;
  }
  if (const auto dot = name.rfind('.'); dot != name.npos) {
    return variable{variable_kind::attribute,
                    {},
                    name.substr(dot + 1),
                    elements ? std::string() : asked.holder,
                    elements,
                    key};
  }
  for (const std::string_view prefix : {"local of ", "closure of "}) {
    if (!asked.owner.starts_with(prefix)) continue;
    const auto function = file.function_at(asked.owner.substr(prefix.size()), asked.owner_line);
    if (!function) continue;
    // A closure's variable is of a function around it.
    for (auto at = function; at; at = file.function_of(at)) {
      if (file.binds(at, name)) return variable{variable_kind::local, at, name, {}, elements, key};
    }
  }
  if (file.named(name).empty()) return std::nullopt;
  return variable{variable_kind::global, {}, name, {}, elements, key};
}

class prover {
 public:
  prover(const source_file& file, const std::string& path, const question& asked, use_list uses)
      : path_(path),
        seen_(asked.numbers),
        values_(file, seen_),
        uses_(std::move(uses)),
        in_{file, values_, uses_, asked} {}

  [[nodiscard]] answer decide() {
    answer made;
    constexpr std::size_t most_places = 200;
    for (const auto& one : uses_.all) {
      if (one.kind != use_kind::assign) continue;
      const bool of_itself = is_made_of_itself(in_, one);
      made.made_of_itself = made.made_of_itself || of_itself;
      made.reallocated = made.reallocated || (is_reallocated(in_, one) &&
                                              in_.file.is_repeated(one.at, in_.asked.running));
    }
    made.reallocated = made.reallocated && !made.made_of_itself;

    const auto grown = growing();
    made.is_seen = !grown.empty();
    made.is_no_cache = !uses_.all.empty() && (grown.empty() || !is_looked_up());
    if (grown.size() > most_places) return made;
    if (grown.empty()) {
      made.why = first_doubt(nullptr);
      if (!made.why) made.why = dynamic_doubt();
      return made;
    }
    if (const auto* const away = find_escape()) {
      made.why = doubt_of(doubt_kind::elsewhere, away->at);
      return made;
    }
    // As many elements as the place that allows most.
    std::optional<bound> largest;
    bool all = true;
    for (const auto& one : grown) {
      auto found = bound_of(one);
      if (!found) {
        all = false;
        if (!made.why) made.why = doubt_about(one);
      } else if (!largest || found->value > largest->value) {
        largest = std::move(found);
      }
    }
    if (!all) {
      if (!made.why) made.why = replaced_object();
      return made;
    }
    // It is longer than that already: the line bounds something else.
    const bool counts_elements = largest->kind != bound_kind::emptied &&
                                 largest->kind != bound_kind::counted &&
                                 largest->kind != bound_kind::loop && !in_.asked.container.empty();
    if (counts_elements && in_.asked.length > largest->value + 1) {
      made.why = doubt{doubt_kind::measured, path_, largest->line, largest->expression};
      return made;
    }
    largest->file = path_;
    made.proof = std::move(largest);
    return made;
  }

 private:
  // Whether a key is there, or for what is under it if it is: results are read by their keys, too.
  [[nodiscard]] bool is_looked_up() const {
    return std::ranges::any_of(uses_.all, [&](const use& one) {
      if (one.kind == use_kind::escape || one.kind == use_kind::member) return true;
      if (one.kind == use_kind::put) return one.at.is("call");  // setdefault(key, value)
      if (one.kind != use_kind::read) return false;
      // except KeyError
      if (one.at.is("subscript"))
        return around(one.at, {"try_statement", "function_definition"}).is("try_statement");
      const auto method = one.at.is("call") ? one.at.field("function") : one.at;
      const auto name = method.field("attribute").text();
      return name == "get" || (!name.empty() && may_run(one.at));  // or a search of its items
    });
  }

  [[nodiscard]] bool is_tensor() const { return in_.asked.container.empty(); }

  // Places that make it longer after it has been made.
  [[nodiscard]] std::vector<use> growing() const {
    std::vector<use> made;
    for (const auto& one : uses_.all) {
      if (fills_new_object(one)) continue;
      // A dictionary that makes what is asked for.
      const bool by_reading = one.kind == use_kind::read && one.at.is("subscript") &&
                              one.at.field("value") == one.what &&
                              in_.asked.container == "defaultdict";
      if (by_reading) {
        made.push_back(one);
        made.back().kind = use_kind::put;
        const auto keys = one.at.all_of_field("subscript");
        made.back().key = keys.size() == 1 ? keys.front() : one.at;
        continue;
      }
      if (one.kind == use_kind::grow || one.kind == use_kind::put) {
        // total += loss makes a graph longer, and no tensor.
        const bool adds = one.at.is("augmented_assignment") && in_.asked.by_graph;
        if (!is_tensor() || adds) made.push_back(one);
      } else if (one.kind == use_kind::assign && makes_longer(one)) {
        made.push_back(one);
        made.back().amount = use_amount::many;
      }
    }
    return made;
  }

  // What fills a new object runs once for each: in its own constructor, and not for a list that
  // all objects of the class have.
  [[nodiscard]] bool fills_new_object(const use& one) const {
    const auto function = in_.file.function_of(one.at);
    if (uses_.names.front().kind != variable_kind::attribute ||
        !source_file::is_constructor(function) ||
        around(one.at, {"lambda", "block"}).is("lambda")) {
      return false;
    }
    const auto is_made = [&](const use& other) {
      return other.kind == use_kind::assign && in_.file.function_of(other.at) == function;
    };
    if (!std::ranges::any_of(uses_.all, is_made)) return false;
    auto first = one.what;
    while (first.is_any({"attribute", "subscript"}))
      first = first.field(first.is("attribute") ? "object" : "value");
    return in_.file.is_self(first) || !source_file::has_parameter(function, first.text());
  }

  // items = items + [x], items = [*items, x]; of a tensor: anything that is made of it.
  [[nodiscard]] bool makes_longer(const use& one) const {
    if (is_tensor()) return is_made_of_itself(in_, one) && !only_cuts(one);
    const auto value = unwrapped(one.value);
    // Also within list(…), sorted(…).
    const bool joins = std::ranges::any_of(value.all(), [](const node& part) {
      const auto sign = part.is("binary_operator") ? part.field("operator").text() : "";
      if (sign == "+" || sign == "*" || sign == "|") return true;
      return part.is_any({"list_splat", "dictionary_splat"}) ||
             part.field("function").text().ends_with("chain");
    });
    if (value.is_any({"list_comprehension", "dictionary_comprehension", "set_comprehension"}))
      return false;
    return joins && is_made_of_itself(in_, one);
  }

  // bank = bank[-40:], which is a way to take out.
  [[nodiscard]] bool only_cuts(const use& one) const {
    auto value = unwrapped(one.value);
    while (value.is("subscript") || value.is("call")) {
      if (value.is("subscript")) {
        value = unwrapped(value.field("value"));
        continue;
      }
      const auto function = value.field("function");
      if (!function.is("attribute") || !arguments_of(value).empty()) break;
      value = unwrapped(function.field("object"));  // .clone(), .contiguous()
    }
    return means_any(in_.file, value, uses_);
  }

  [[nodiscard]] std::optional<bound> bound_of(const use& one) const {
    using rule_t = std::optional<bound> (*)(const case_at_hand&, const use&);
    for (const rule_t rule : {&by_guard, &by_trim, &by_keys, &by_emptying, &by_end_of_loop}) {
      const bool cuts = rule == &by_trim && is_tensor() && in_.asked.by_graph;
      if (cuts) continue;
      if (auto found = rule(in_, one)) return found;
    }
    if (one.kind == use_kind::assign && !in_.asked.by_graph) return by_slice(in_, one);
    return std::nullopt;
  }

  // Nobody makes a tensor longer, or its graph, who has it; only what is put into a variable does.
  [[nodiscard]] const use* find_escape() const {
    if (is_tensor()) return nullptr;
    for (const auto& one : uses_.all) {
      if (one.kind == use_kind::escape) return &one;
      // An object that its maker was given may be anybody's.
      if (one.kind == use_kind::assign && unwrapped(one.value).is("identifier") && !is_tensor() &&
          is_parameter(unwrapped(one.value))) {
        return &one;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_parameter(const node& name) const {
    const auto owner = in_.file.owner_of(name, name.text());
    return owner && !in_.value.only_value_of(name);
  }

  [[nodiscard]] doubt doubt_of(doubt_kind kind, const node& where) const {
    const auto shown = case_at_hand::shown(bound_kind::length, where, 0);
    return {kind, path_, shown.line, shown.expression};
  }

  // An attribute whose name nobody writes down: setattr(module, f"{name}_sum", …).
  [[nodiscard]] std::optional<doubt> dynamic_doubt() const {
    for (const auto& one : in_.file.named("setattr")) {
      const auto call = one.parent();
      const auto given = call.is("call") ? arguments_of(call) : std::vector<node>();
      const bool is_written = given.size() > 1 && given[1].is("string") &&
                              given[1].text().find('{') == std::string_view::npos;
      if (given.size() > 1 && !is_written) return doubt_of(doubt_kind::elsewhere, call);
    }
    return std::nullopt;
  }

  // What speaks against its going on for ever, for one place; none: nothing does.
  [[nodiscard]] std::optional<doubt> doubt_about(const use& one) const {
    const bool new_keys = has_new_keys(in_, one);
    if (one.key && !new_keys) {
      const bool preset = one.kind == use_kind::put && in_.asked.container == "list";
      if (!preset) return doubt_of(doubt_kind::keys, one.at);
    }
    if (runs_out(in_, one)) return doubt_of(doubt_kind::runs_out, one.at);
    const bool now_and_then = in_.asked.times != 0 && 2 * in_.asked.times <= in_.asked.steps;
    if (const auto loop = now_and_then ? around_the_steps(one.at) : node())
      return doubt_of(doubt_kind::runs_out, loop);
    // A graph that gets longer is one that such a call does keep.
    if (one.kind == use_kind::assign && is_tensor() && !in_.asked.by_graph) {
      if (const auto call = made_by_others(in_, one)) return doubt_of(doubt_kind::elsewhere, call);
    }
    // Here, or where the function is called that it is in.
    auto facts = facts_at(one.at);
    if (const auto function = in_.file.function_of(one.at)) {
      for (const auto& call : in_.file.calls_of(function)) {
        const auto more = facts_at(call);
        facts.insert(facts.end(), more.begin(), more.end());
      }
    }
    for (const auto& fact : facts) {
      if (in_.asks_for_length(fact.condition))
        return doubt_of(doubt_kind::measured, fact.condition);
      for (const auto& member : uses_.all) {
        if (!new_keys && member.kind == use_kind::member && member.at.is_in(fact.condition))
          return doubt_of(doubt_kind::keys, fact.condition);
      }
    }
    return first_doubt(&one);
  }

  // `training` of trainer.training.states is given another object: what the old one had goes.
  [[nodiscard]] std::optional<doubt> replaced_object() const {
    std::string path = in_.asked.variable;
    for (auto dot = path.rfind('.'); dot != path.npos; dot = path.rfind('.')) {
      path.resize(dot);
      while (path.ends_with(']')) path.resize(path.rfind('['));
      const auto before = path.rfind('.');
      if (before == path.npos) break;
      const variable object{variable_kind::attribute, {}, path.substr(before + 1)};
      for (const auto& one : uses_of(in_.file, object, false).of(use_kind::assign)) {
        const bool makes = source_file::is_constructor(in_.file.function_of(one.at));
        if (!makes && may_run(one.at)) return doubt_of(doubt_kind::taken_out, one.at);
      }
    }
    return std::nullopt;
  }

  // The steps are another loop within this one, which has a known number of rounds: it grows from
  // task to task, and there are so many tasks.
  [[nodiscard]] node around_the_steps(const node& grows) const {
    std::vector<node> places{grows};
    if (const auto function = in_.file.function_of(grows)) {
      const auto calls = in_.file.calls_of(function);
      places.insert(places.end(), calls.begin(), calls.end());
    }
    for (const auto& place : places) {
      const auto loops = loops_around(place);
      if (loops.empty() || !in_.value.rounds_of(loops.front())) continue;
      for (const auto& inner : loops.front().field("body").all()) {
        if (inner.is_any({"for_statement", "while_statement"})) return loops.front().field("right");
      }
    }
    return {};
  }

  // Whether it may run while the container gets longer.
  [[nodiscard]] bool may_run(const node& where) const {
    // A function that others may call again begins with other locals: it is this one that grows.
    const auto& name = uses_.names.front();
    const bool own = name.kind == variable_kind::local && in_.file.function_of(where) == name.scope;
    return in_.file.is_repeated(
        where, in_.asked.running,
        own ? source_file::calls_by::the_file : source_file::calls_by::others_too);
  }

  // `grows`: the place that is asked about; null: none was found.
  [[nodiscard]] std::optional<doubt> first_doubt(const use* grows) const {
    for (const auto& one : uses_.all) {
      const bool takes = one.kind == use_kind::shrink || one.kind == use_kind::cut ||
                         one.kind == use_kind::empty ||
                         (one.kind == use_kind::assign && by_slice(in_, one));
      const bool anew = one.kind == use_kind::assign && !makes_longer(one) && is_anew(one);
      if (grows != nullptr && anew && emptying_is_past(in_, *grows, one.at)) continue;
      if ((takes || anew) && may_run(one.at) && !(anew && runs_each_step(one.at)))
        return doubt_of(doubt_kind::taken_out, one.at);
    }
    for (const auto& one : uses_.all) {
      if (one.kind == use_kind::measure && is_compared(one.at) && may_run(one.at))
        return doubt_of(doubt_kind::measured, one.at.parent());
    }
    return std::nullopt;
  }

  // Given something else while it is in use; not where it is made.
  [[nodiscard]] bool is_anew(const use& one) const {
    return !source_file::is_constructor(in_.file.function_of(one.at)) && !creates(one);
  }

  // if self.items is None: self.items = []      if key not in self.items: self.items[key] = []
  [[nodiscard]] bool creates(const use& one) const {
    return std::ranges::any_of(facts_at(one.at), [&](const fact& given) {
      if (given.sign == "is" && given.right.is("none"))
        return means_any(in_.file, given.left, uses_);
      if (given.sign == "not in") return uses_.names.front().elements;
      return given.sign.empty() && !given.holds && means_any(in_.file, given.left, uses_);
    });
  }

  // What each round of the steps' own loop runs in any case has not kept it from getting longer.
  [[nodiscard]] bool runs_each_step(const node& what) const {
    if (in_.asked.running.empty() || !facts_at(what).empty()) return false;
    const auto loops = loops_around(what);
    if (loops.empty()) return false;
    const auto body = loops.front().field("body");
    if (statement_of(what).parent() != body) return false;
    return std::ranges::any_of(in_.asked.running, [&](std::uint32_t line) {
      if (line < body.line() || line > body.last_line()) return false;
      // Not in a loop within it, which runs many times for each of its rounds.
      return std::ranges::none_of(body.all(), [&](const node& inner) {
        return inner.is_any({"for_statement", "while_statement"}) && line >= inner.line() &&
               line <= inner.last_line();
      });
    });
  }

  [[nodiscard]] bool is_compared(const node& length) const {
    const auto condition = around(length, {"if_statement", "while_statement", "elif_clause",
                                           "conditional_expression", "block"});
    const auto asked = condition.field("condition");
    return asked && length.is_in(asked) &&
           around(length, {"comparison_operator", "block"}).is("comparison_operator");
  }

  const std::string& path_;
  seen_numbers seen_;
  values values_;
  use_list uses_;
  case_at_hand in_;
};

}  // namespace

bool is_dictionary(std::string_view container) {
  return is_one_of(container, dictionaries);
}

std::string_view name_of(bound_kind which) {
  return text::enum_name(which);
}

std::string_view name_of(doubt_kind which) {
  return text::enum_name(which);
}

answer prove(const source_file& file, const std::string& path, const question& asked,
             std::uint64_t looks) {
  answer made;
  const auto& parsed = file.parsed();
  parsed.allow(looks);
  std::optional<use_list> uses;
  try {
    if (const auto what = variable_of(file, asked)) {
      const bool is_queue = is_one_of(asked.container, queues);
      uses = uses_of(file, *what, is_queue, asked.container.empty());
      made = prover(file, path, asked, *uses).decide();
    }
  } catch (const too_many_looks&) {
    made = {};
    made.gave_up = true;
  }
  try {
    if (uses && !made.gave_up) made.read = readings_of(file, *uses);
    made.read.file = path;
  } catch (const too_many_looks&) {  // what was proved still is
  }
  made.looks = looks - parsed.left();
  return made;
}

}  // namespace memtrace::program
