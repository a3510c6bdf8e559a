// SPDX-License-Identifier: Apache-2.0
//
// R5: what is put in takes the place of what was there under the same key, and there are so many
// keys:
//
//   self.items[self.at % self.capacity] = x      as many as `capacity`
//   task = TASKS[turn % 8]; kept[task] = x       as many as TASKS has
//   kept[step] = x                               a new one each time
#include <algorithm>
#include <cmath>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned deepest = 6;

// How many values an expression can have.
struct domain {
  std::optional<std::int64_t> count;  // none: not known
  bool is_new = false;                // another one each time
};

class domains {
 public:
  explicit domains(const case_at_hand& in) : in_(in) {}

  [[nodiscard]] domain of(const node& expression, unsigned depth = 0) {
    const auto what = unwrapped(expression);
    if (!what || depth > deepest) return {};
    if (what.is_any({"integer", "none", "true", "false", "float"})) return {1};
    if (what.is_any({"comparison_operator", "not_operator"})) return {2};
    if (what.is("string")) return of_parts(what, "interpolation", depth);
    if (what.is_any({"tuple", "expression_list"})) return of_all(what.children(), depth);
    if (depth == 0 && what.is("subscript") && what.all_of_field("subscript").size() > 1)
      return of_all(what.all_of_field("subscript"), depth);
    if (what.is("interpolation")) return of(what.child(0), depth + 1);
    if (what.is("binary_operator")) return of_calculation(what, depth);
    if (what.is("subscript")) {
      const auto keys = what.all_of_field("subscript");
      if (keys.size() != 1 || keys.front().is("slice")) return {};
      const auto of = unwrapped(what.field("value"));
      return of.is("string") ? domain{in_.value.length_of(of)} : of_elements(of, depth + 1, 0);
    }
    if (what.is("conditional_expression")) {
      const auto parts = what.children();
      return parts.size() == 3 ? sum(of(parts[0], depth + 1), of(parts[2], depth + 1)) : domain{};
    }
    if (what.is("call")) return of_call(what, depth);
    if (what.is_any({"identifier", "attribute"})) return of_name(what, depth);
    return {};
  }

 private:
  [[nodiscard]] static domain sum(const domain& one, const domain& other) {
    if (!one.count || !other.count) return {std::nullopt, one.is_new && other.is_new};
    return {*one.count + *other.count};
  }

  [[nodiscard]] domain of_all(const std::vector<node>& parts, unsigned depth) {
    domain made{1};
    for (const auto& one : parts) {
      const auto inner = of(one, depth + 1);
      if (inner.is_new) return {std::nullopt, true};
      constexpr double most = 1e9;
      const bool known =
          made.count && inner.count &&
          static_cast<double>(*made.count) * static_cast<double>(*inner.count) < most;
      made.count = known ? std::optional(*made.count * *inner.count) : std::nullopt;
    }
    return made;
  }

  [[nodiscard]] domain of_parts(const node& what, std::string_view kind, unsigned depth) {
    std::vector<node> parts;
    for (const auto& one : what.children()) {
      if (one.is(kind)) parts.push_back(one);
    }
    return of_all(parts, depth);
  }

  [[nodiscard]] domain of_calculation(const node& what, unsigned depth) {
    const auto sign = what.field("operator").text();
    if (sign == "%") {
      const auto limit = in_.value.of(what.field("right"));
      // The rest of a number that is no integer may be any.
      const bool whole = std::ranges::none_of(what.field("left").all(), [](const node& part) {
        const auto name = part.field("function").field("attribute").text();
        return part.is("float") ||
               (part.is("binary_operator") && part.field("operator").text() == "/") ||
               name == "time" || name == "perf_counter" || name == "monotonic" ||
               name == "random" || name == "uniform" || name == "item";
      });
      if (limit && *limit > 0 && whole) return {limit};
      return {};
    }
    const auto left = of(what.field("left"), depth + 1);
    const auto right = of(what.field("right"), depth + 1);
    const bool keeps_new = sign == "+" || sign == "-" || sign == "*";
    if (keeps_new && ((left.is_new && right.count == 1) || (right.is_new && left.count == 1)))
      return {std::nullopt, true};
    if (!left.count || !right.count) return {};
    return {*left.count * *right.count};
  }

  [[nodiscard]] domain of_call(const node& what, unsigned depth) {
    const auto name = what.field("function");
    const auto last = name.is("attribute") ? name.field("attribute").text() : name.text();
    const auto given = arguments_of(what);
    if (name.is("attribute") && given.empty() && last == "item") {  // torch.randint(…).item()
      of_tensor_ = true;
      const auto made = of(name.field("object"), depth + 1);
      of_tensor_ = false;
      return made;
    }
    // A tensor is the same key as no other one.
    if (last == "randint" && in_.file.package_of(name.field("object").text()) == "torch" &&
        !of_tensor_) {
      return {};
    }
    if (given.size() == 1 && name.is("identifier") &&
        (last == "int" || last == "str" || last == "hash" || last == "repr")) {
      return of(given.front(), depth + 1);
    }
    const bool of_library = name.is("attribute");
    if (of_library && last == "randrange" && given.size() == 1) return {in_.value.of(given[0])};
    if (of_library && (last == "randint" || last == "randrange") && given.size() >= 2) {
      const auto low = in_.value.of(given[0]);
      const auto high = in_.value.of(given[1]);
      if (low && high && *high >= *low) return {*high - *low + 1};
      return {};
    }
    if (of_library && last == "choice" && given.size() == 1)
      return of_elements(given[0], depth + 1, 0);
    if (name.is("identifier") && last == "next" && !given.empty() &&
        unwrapped(given[0]).field("function").text().ends_with("count")) {
      return {std::nullopt, true};
    }
    return {};
  }

  [[nodiscard]] domain of_name(const node& what, unsigned depth) {
    // Of a loop around it.
    for (const auto& loop : loops_around(what)) {
      if (!loop.is("for_statement")) continue;
      const auto targets = targets_of(loop.field("left"));
      const auto at =
          std::ranges::find_if(targets, [&](const node& one) { return one.text() == what.text(); });
      if (at == targets.end()) continue;
      // i += 10 makes another one of it.
      const bool is_changed =
          std::ranges::any_of(in_.file.named(what.text()), [&](const node& one) {
            return one.is_in(loop.field("body")) && one.parent().field("left") == one &&
                   one.parent().is_any({"assignment", "augmented_assignment"});
          });
      if (is_changed) return {};
      if (in_.file.is_repeated(loop, in_.asked.running)) {
        return of_elements(loop.field("right"), depth,
                           static_cast<std::size_t>(at - targets.begin()));
      }
      // The run's own loop: a round's number does not come again, and what else it goes through may.
      const bool may_come =
          in_.file.is_repeated(loop, in_.asked.running, source_file::calls_by::others_too);
      return {std::nullopt, in_.value.is_counter(what) && !may_come};
    }
    if (in_.value.is_counter(what)) return {std::nullopt, true};
    if (const auto value = in_.value.only_value_of(what)) return of(value, depth + 1);
    return {};
  }

  // What a loop goes through: those that are written down there are made in each round of a loop
  // around it, those of a name once.
  [[nodiscard]] domain of_elements(const node& through, unsigned depth, std::size_t which) {
    const auto what = unwrapped(through);
    if (depth > deepest) return {};
    if (what.is_any({"list", "tuple", "set", "dictionary"})) {
      domain all{0};
      for (const auto& one : what.children()) {
        all = sum(all, of(one.is("pair") ? one.field("key") : one, depth + 1));
      }
      return all;
    }
    if (what.is("call")) {
      const auto name = what.field("function").text();
      const auto given = arguments_of(what);
      if (name == "range" || (name == "enumerate" && which == 0))
        return {in_.value.length_of(what)};
      const bool same = name == "list" || name == "tuple" || name == "sorted" ||
                        name == "reversed" || name == "iter" || name == "enumerate";
      if (same && !given.empty()) return of_elements(given.front(), depth + 1, 0);
      if (name == "zip" && which < given.size()) return of_elements(given[which], depth + 1, 0);
      return {};
    }
    if (what.is_any({"identifier", "attribute"})) {
      const auto value = in_.value.only_value_of(what);
      if (!value || !in_.value.length_of(what)) return {};
      if (in_.file.is_repeated(value, {}, source_file::calls_by::others_too))
        return of_elements(value, depth + 1, 0);
      return {in_.value.length_of(what)};
    }
    return {};
  }

  const case_at_hand& in_;
  bool of_tensor_ = false;  // a number that is taken out of one
};

// Where the key comes from a parameter, what the callers give for it.
[[nodiscard]] domain domain_of_key(const case_at_hand& in, const node& key) {
  domains known(in);
  const auto here = known.of(key);
  const auto what = unwrapped(key);
  if (here.count || here.is_new || !what.is("identifier")) return here;
  const auto function = in.file.owner_of(what, what.text());
  const auto calls = in.file.calls_of(function);
  if (!function || calls.empty() || in.value.only_value_of(what)) return here;
  domain all{0};
  for (const auto& call : calls) {
    node given;
    for (const auto& one : arguments_of(call)) {
      if (in.file.parameter_for(function, call, one) == what.text()) {
        given = one.is("keyword_argument") ? one.field("value") : one;
      }
    }
    const auto one = known.of(given);
    if (one.is_new) return {std::nullopt, true};
    if (!one.count) return {};
    all.count = *all.count + *one.count;
  }
  const auto mentions = in.file.named(function.field("name").text()).size();
  return mentions == calls.size() + 1 ? all : domain{};
}

[[nodiscard]] bool has_places(const std::string& container) {
  return container == "list" || container == "deque" || container == "ndarray" ||
         container == "array";
}

}  // namespace

std::optional<bound> by_keys(const case_at_hand& in, const use& grows) {
  if (!grows.key) return std::nullopt;
  if (grows.kind == use_kind::put && !is_dictionary(in.asked.container)) {
    // A list has no more places than it has; a class of its own may be anything.
    if (!has_places(in.asked.container)) return std::nullopt;
    if (in.asked.length == 0 || in.asked.container.empty()) return std::nullopt;
    return case_at_hand::shown(bound_kind::keys, grows.at,
                               static_cast<std::int64_t>(in.asked.length));
  }
  const auto keys = domain_of_key(in, grows.key);
  if (!keys.count || *keys.count <= 0) return std::nullopt;
  return case_at_hand::shown(bound_kind::keys, grows.at, *keys.count);
}

bool has_new_keys(const case_at_hand& in, const use& grows) {
  if (!grows.key) return false;
  // A text or a number holds no memory of a GPU, so the key does: a tensor or a module, which is
  // the same key as no other object. Memory that was asked for anew has another one.
  auto value = grows.at.is("assignment") ? unwrapped(grows.value) : node();
  if (value.is("identifier")) value = unwrapped(in.value.only_value_of(value));
  if (value.is_any({"string", "concatenated_string", "integer", "float", "true", "false", "none"}))
    return true;
  return domain_of_key(in, grows.key).is_new;
}

}  // namespace memtrace::program
