// SPDX-License-Identifier: Apache-2.0
//
// R4: a tensor that is joined to itself and cut to a limit, so that it is never longer.
//
//   bank = torch.cat([bank, keys])[-LIMIT:]         at most LIMIT
//   k = torch.cat([self.k, k], dim=2)
//   self.k = k[:, :, -self.window:]                 at most `window` along the axis that is joined
//   past = crop(past)                               as crop() returns it
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned deepest = 24;
// Expressions looked at for one question: a hostile program would have no end of them.
constexpr unsigned most_looked_at = 4000;

// What an expression makes of the tensor, in elements along the axis that gets longer.
struct extent {
  bool has_it = false;               // the tensor is in it, as long as it is
  std::optional<std::int64_t> most;  // of the parts of it that are cut
  node cut;                          // that says so
  bool known = true;                 // false: somebody else may have put it in
  node by;                           // a call of code that is not in the file, that was given it
  bool longer = false;               // of a container: with something beside it

  [[nodiscard]] bool has_any() const { return has_it || most; }
};

// What makes a tensor of more elements than one had.
constexpr std::array<std::string_view, 8> enlarging = {
    "repeat", "tile", "expand", "repeat_interleave", "pad", "interpolate", "kron", "broadcast_to"};

// The axes along which the tensor is joined to something, as far as they are written down.
[[nodiscard]] std::vector<std::int64_t> joined_axes(const case_at_hand& in) {
  std::vector<std::int64_t> made;
  if (!in.asked.container.empty()) return made;
  for (const auto* const name : {"cat", "concat", "concatenate"}) {
    for (const auto& one : in.file.named(name)) {
      const auto call = one.parent();
      if (!call.is("call") || call.field("function") != one) continue;
      const auto given = arguments_of(call);
      if (given.empty()) continue;
      const bool has_it = std::ranges::any_of(
          given.front().all(), [&](const node& part) { return means_any(in.file, part, in.uses); });
      if (!has_it) continue;
      std::optional<std::int64_t> axis = 0;
      for (const auto& other : given) {
        const auto word = other.field("name").text();
        if (other.is("keyword_argument") && (word == "dim" || word == "axis"))
          axis = in.value.of(other.field("value"));
      }
      if (given.size() > 1 && !given[1].is("keyword_argument")) axis = in.value.of(given[1]);
      if (axis) made.push_back(*axis);
    }
  }
  return made;
}

// Whether the part of a subscript at a place may be about an axis.
[[nodiscard]] bool may_be_axis(std::int64_t axis, const std::vector<node>& parts,
                               std::int64_t place) {
  const auto count = static_cast<std::int64_t>(parts.size());
  std::int64_t dots = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    if (parts[static_cast<std::size_t>(i)].is("ellipsis")) dots = i;
  }
  if (dots != -1 && place > dots) return axis < 0 ? place - count == axis : axis != 0;
  return axis >= 0 ? place == axis : place != 0 || place - count == axis;
}

class extents {
 public:
  explicit extents(const case_at_hand& in) : in_(in) {}

  [[nodiscard]] extent of(const node& expression, unsigned depth = 0) {
    const auto what = unwrapped(expression);
    if (!what || depth > deepest || ++looked_at_ > most_looked_at) return unknown();
    if (means_any(in_.file, what, in_.uses)) return the_tensor();
    if (what.is("subscript")) return of_subscript(what, depth);
    if (what.is("call")) return of_call(what, depth);
    if (what.is("identifier")) return of_local(what, depth);
    if (what.is("conditional_expression")) {
      const auto parts = what.children();
      auto made = of(parts.front(), depth + 1);
      if (parts.size() == 3) join(made, of(parts[2], depth + 1), false);
      return made;
    }
    if (what.is_any({"list_comprehension", "set_comprehension", "dictionary_comprehension",
                     "generator_expression"})) {
      return of_comprehension(what, depth);
    }
    extent made;
    const auto parts = what.children();
    for (const auto& one : parts) join(made, of(one, depth + 1), true);
    const auto sign = what.field("operator").text();
    const bool adds = sign == "+" || sign == "*" || sign == "|";
    const bool gathers = what.is_any({"list", "tuple", "set", "dictionary", "expression_list"});
    const bool is_alone = parts.size() == 1 && parts[0].is_any({"list_splat", "dictionary_splat"});
    made.longer = made.longer || (made.has_any() && (adds || (gathers && !is_alone)));
    // A list as often as somebody says.
    if (sign == "*" && made.has_any() && !is_tensor()) made.known = false;
    return made;
  }

  // What a variable is given, though it is another name of the container by then.
  [[nodiscard]] extent of_assigned(const node& value) {
    const auto what = unwrapped(value);
    const bool is_another = what.is("identifier") && !means(in_.file, what, in_.uses.names.front());
    if (!is_another || !in_.file.owner_of(what, what.text())) return of(value);
    return of_local(what, 0, false);
  }

 private:
  [[nodiscard]] bool is_tensor() const { return in_.asked.container.empty(); }

  // As long as what it goes through, where that is one thing.
  [[nodiscard]] extent of_comprehension(const node& what, unsigned depth) {
    extent made;
    unsigned loops = 0;
    for (const auto& one : what.children()) {
      const bool is_loop = one.is("for_in_clause");
      loops += is_loop ? 1 : 0;
      join(made, of(is_loop ? one.field("right") : one, depth + 1), true);
    }
    made.longer = made.longer || (made.has_any() && loops > 1);
    return made;
  }

  [[nodiscard]] static extent the_tensor() {
    extent made;
    made.has_it = true;
    return made;
  }

  [[nodiscard]] static extent cut_to(std::int64_t most, const node& by, bool known) {
    extent made;
    made.most = most;
    made.cut = by;
    made.known = known;
    return made;
  }

  [[nodiscard]] static extent unknown() {
    extent made;
    made.known = false;
    return made;
  }

  static void join(extent& to, const extent& other, bool adds) {
    to.has_it = to.has_it || other.has_it;
    to.known = to.known && other.known;
    to.longer = to.longer || other.longer;
    if (other.by) to.by = other.by;
    if (!other.most) return;
    to.most = !to.most ? *other.most
              : adds   ? *to.most + *other.most
                       : std::max(*to.most, *other.most);
    to.cut = other.cut;
  }

  // x[-40:], x[:, -40:], x[:40]: the axis of the one slice with an end.
  [[nodiscard]] extent of_subscript(const node& what, unsigned depth) {
    if (!is_tensor() && !is_slice(what)) return {};  // one element
    auto inner = of(what.field("value"), depth + 1);
    if (!inner.has_it) return inner;
    std::optional<std::int64_t> least;
    const auto parts = what.all_of_field("subscript");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& slice = parts[i];
      if (!slice.is("slice") || slice.children().size() != 1 || slice.text().starts_with("::"))
        continue;
      const bool fits = std::ranges::all_of(joined_axes(in_), [&](std::int64_t axis) {
        return may_be_axis(axis, parts, static_cast<std::int64_t>(i));
      });
      if (!fits) continue;
      const auto part = unwrapped(slice.child(0));
      const bool is_last = slice.text().back() == ':';
      std::optional<std::int64_t> most;
      if (is_last && part.is("unary_operator") && part.text().starts_with('-'))
        most = of_last(part.child(0), what.field("value"));
      if (is_last && !most) most = of_rest(part, what.field("value"));
      if (!is_last) most = in_.value.of(part);
      if (most && *most > 0 && (!least || *most < *least)) least = most;
    }
    if (!least) return inner;
    auto made = cut_to(*least, what, inner.known);
    made.longer = inner.longer;
    return made;
  }

  // len(items), items.pop(): a number, or an element.
  [[nodiscard]] bool gives_no_container(const node& call) const {
    const auto function = call.field("function");
    if (function.is("attribute")) {
      const auto method = function.field("attribute").text();
      return means_any(in_.file, function.field("object"), in_.uses) &&
             (is_known(method, known::takes_one) || method == "pop" || method == "get" ||
              method == "index" || method == "count");
    }
    constexpr std::array<std::string_view, 9> of_python = {"len", "max", "min",  "any", "all",
                                                           "id",  "str", "bool", "next"};
    return std::ranges::find(of_python, function.text()) != of_python.end() &&
           in_.file.is_of_python(function);
  }

  // sorted(items, key=age), items.copy(): as many elements as it had.
  [[nodiscard]] bool is_as_long(const node& call, std::string_view name) const {
    const auto given = arguments_of(call);
    const auto places =
        std::ranges::count_if(given, [](const node& one) { return !one.is("keyword_argument"); });
    const auto function = call.field("function");
    if (function.is("attribute") && places == 0)
      return name == "copy" || name == "items" || name == "values" || name == "keys";
    const bool takes_function = name == "map" || name == "filter" || name == "defaultdict";
    const bool by_python = makes_container(in_.file, call) || name == "deepcopy" ||
                           name == "copy" || name == "map" || name == "iter" || name == "enumerate";
    return by_python && places == (takes_function ? 2 : 1);
  }

  // x[-min(40, len(x)):]
  [[nodiscard]] std::optional<std::int64_t> of_last(const node& count, const node& of) const {
    const auto what = unwrapped(count);
    if (const auto known = in_.value.of(what)) return known;
    const auto function = what.field("function");
    if (function.text() != "min" || !in_.file.is_of_python(function)) return std::nullopt;
    const auto given = arguments_of(what);
    if (given.size() != 2) return std::nullopt;
    const bool first = is_length_of(given[0], of);
    return first || is_length_of(given[1], of) ? in_.value.of(given[first ? 1 : 0]) : std::nullopt;
  }

  // x[max(0, len(x) - 40):], x[len(x) - 40:]: what is left are the last 40.
  [[nodiscard]] std::optional<std::int64_t> of_rest(const node& start, const node& of) const {
    auto what = unwrapped(start);
    if (what.is("identifier")) what = unwrapped(in_.value.only_value_of(what));
    const auto function = what.field("function");
    if (function.text() == "max" && in_.file.is_of_python(function)) {
      const auto given = arguments_of(what);
      if (given.size() != 2) return std::nullopt;
      const bool first = in_.value.of(given[0]) == 0;
      if (!first && in_.value.of(given[1]) != 0) return std::nullopt;
      what = unwrapped(given[first ? 1 : 0]);
    }
    if (!what.is("binary_operator") || what.field("operator").text() != "-") return std::nullopt;
    if (!is_length_of(what.field("left"), of)) return std::nullopt;
    return in_.value.of(what.field("right"));
  }

  [[nodiscard]] bool is_length_of(const node& length, const node& of) const {
    return in_.is_same(in_.place_of(of), in_.measured(length));
  }

  [[nodiscard]] extent of_call(const node& what, unsigned depth) {
    const auto function = in_.file.callee(what);
    if (function && !source_file::is_constructor(function))
      return of_function(function, what, depth);
    extent made;
    const auto name = what.field("function");
    if (name.is("attribute")) join(made, of(name.field("object"), depth + 1), true);
    for (const auto& one : arguments_of(what)) {
      join(made, of(one.is("keyword_argument") ? one.field("value") : one, depth + 1), true);
    }
    // A method of the tensor, or a function of a library, makes another one of it; model(x, it) may
    // do anything.
    auto first = name;
    while (first.is("attribute")) first = first.field("object");
    const bool by_library = name.is("attribute")
                                ? in_.file.is_library(first.text()) || !first.is("identifier") ||
                                      of(name.field("object"), depth + 1).has_it
                                : in_.file.is_library(name.text());
    if (!is_tensor() && made.has_any() && gives_no_container(what)) return {};
    constexpr std::array<std::string_view, 9> of_python = {
        "list", "tuple", "sum", "sorted", "zip", "enumerate", "reversed", "map", "range"};
    const bool plain = std::ranges::find(of_python, name.text()) != of_python.end();
    if (made.has_it && !by_library && !plain) made.by = what;
    if (!made.has_any()) return made;
    const auto last = name.is("attribute") ? name.field("attribute").text() : name.text();
    // It may have put more to it, or make it as large as it likes.
    const bool enlarges = std::ranges::find(enlarging, last) != enlarging.end();
    if (made.most && (enlarges || (!by_library && !plain))) made.known = false;
    made.longer = made.longer || !is_as_long(what, last);
    return made;
  }

  // All that a function returns, its parameters being what this call gives for them.
  [[nodiscard]] extent of_function(const node& function, const node& call, unsigned depth) {
    extent made;
    std::set<std::string> are_it;
    for (const auto& one : arguments_of(call)) {
      const auto value = one.is("keyword_argument") ? one.field("value") : one;
      const auto given = of(value, depth + 1);
      if (given.has_it || given.most) are_it.insert(in_.file.parameter_for(function, call, one));
      made.known = made.known && given.known;
    }
    for (const auto& one : function.field("body").all()) {
      if (!one.is("return_statement") || in_.file.function_of(one) != function) continue;
      const auto before = std::exchange(parameters_, are_it);
      auto returned = of(one.child(0), depth + 1);
      // Where it is returned as it is, a condition may say how long it is at most.
      if (returned.has_it) {
        if (const auto most = by_condition(one)) {
          returned = cut_to(most->first, most->second, returned.known);
        }
      }
      parameters_ = before;
      join(made, returned, false);
    }
    return made;
  }

  // if states.shape[2] <= 40: return states
  [[nodiscard]] std::optional<std::pair<std::int64_t, node>> by_condition(const node& where) const {
    for (const auto& one : facts_at(where)) {
      const auto shape = unwrapped(one.left);
      const bool sized =
          shape.is("subscript") && shape.field("value").field("attribute").text() == "shape";
      if (!sized || !is_it(shape.field("value").field("object")) ||
          !may_be_joined_axis(in_, shape.field("subscript"))) {
        continue;
      }
      const auto limit = in_.value.of(one.right);
      if (limit && (one.sign == "<=" || one.sign == "<")) return std::pair(*limit, one.condition);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_it(const node& what) const {
    return what.is("identifier") && parameters_.contains(std::string(what.text()));
  }

  // All that a local variable is given in its function.
  [[nodiscard]] extent of_local(const node& what, unsigned depth, bool may_be_it = true) {
    if (may_be_it && is_it(what)) return the_tensor();
    const std::string name(what.text());
    const auto owner = in_.file.owner_of(what, name);
    extent made;
    if (!owner || !open_.insert(what.begin()).second) return made;
    const auto loops = loops_around(what);
    bool has_here = false;  // a value in the same round, before it is used
    for (const auto& one : in_.file.named(name)) {
      const auto pattern = one.parent().is("pattern_list") ? one.parent().parent() : one.parent();
      if (!pattern.is("assignment") || !one.is_in(pattern.field("left"))) continue;
      // What it is given later in the same round is not what it is here.
      if (!one.is("identifier") || in_.file.owner_of(one, name) != owner) continue;
      const bool same_round = loops_around(statement_of(one)) == loops;
      const bool comes_back = !loops.empty() && one.is_in(loops.back());
      if (one.begin() > what.begin() && (has_here || !comes_back)) continue;
      if (one.begin() < what.begin() && same_round) has_here = true;
      auto value = pattern.field("right");
      if (one.parent().is("pattern_list")) {
        const auto lefts = one.parent().children();
        const auto rights = unwrapped(value).children();
        if (unwrapped(value).is_any({"expression_list", "tuple"}) &&
            lefts.size() == rights.size()) {
          value = rights[static_cast<std::size_t>(std::ranges::find(lefts, one) - lefts.begin())];
        }
      }
      // The last of them counts where each is in the same block, and all of them otherwise.
      const auto next = of(value, depth + 1);
      const bool replaces = statement_of(one).parent() == statement_of(what).parent();
      if (replaces && !next.has_it) made = {};
      join(made, next, false);
    }
    open_.erase(what.begin());
    return made;
  }

  const case_at_hand& in_;
  std::set<std::string> parameters_;  // of the function at hand, that are the tensor
  std::set<std::uint32_t> open_;
  unsigned looked_at_ = 0;
};

}  // namespace

bool may_be_joined_axis(const case_at_hand& in, const node& axis) {
  const auto asked = in.value.of(axis);
  if (!asked) return true;
  return std::ranges::all_of(joined_axes(in), [&](std::int64_t one) {
    if ((one < 0) == (*asked < 0)) return one == *asked;
    return one != 0 && *asked != 0;
  });
}

std::optional<bound> by_slice(const case_at_hand& in, const use& assigns) {
  const auto found = extents(in).of_assigned(assigns.value);
  if (found.has_it || !found.most || !found.known) return std::nullopt;
  return case_at_hand::shown(bound_kind::length, found.cut, *found.most);
}

node made_by_others(const case_at_hand& in, const use& assigns) {
  return extents(in).of(assigns.value).by;
}

bool is_reallocated(const case_at_hand& in, const use& assigns) {
  const auto found = extents(in).of(assigns.value);
  return found.known && !found.has_it && !found.most;
}

bool is_made_of_itself(const case_at_hand& in, const use& assigns) {
  return extents(in).of(assigns.value).has_any();
}

bool makes_longer(const case_at_hand& in, const use& assigns) {
  const auto found = extents(in).of_assigned(assigns.value);
  return found.longer && found.has_any();
}

}  // namespace memtrace::program
