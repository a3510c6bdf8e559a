// SPDX-License-Identifier: Apache-2.0
//
// R5: what is put in takes the place of what was there under the same key, and there are so many
// keys:
//
//   self.items[self.at % self.capacity] = x      as many as `capacity`
//   task = TASKS[turn % 8]; kept[task] = x       as many as TASKS has
//   kept[step] = x                               a new one each time
#include <algorithm>
#include <array>
#include <utility>

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
  explicit domains(const case_at_hand& in, const use* grows = nullptr) : in_(in), grows_(grows) {}

  [[nodiscard]] domain of(const node& expression, unsigned depth = 0) {
    const auto what = unwrapped(expression);
    if (!what || depth > deepest) return {};
    if (what.is_any({"integer", "none", "true", "false", "float"})) return {1};
    if (what.is("not_operator")) return {2};
    // Of a tensor a comparison is another tensor each time, which is equal to no other key.
    if (what.is("comparison_operator")) return has_tensor(what) ? domain{} : domain{2};
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
    if (what.is("attribute") && what.field("object").is("call")) {  // uuid4().hex
      const auto last = what.field("attribute").text();
      const bool is_whole_of_it = last == "hex" || last == "int" || last == "bytes";
      return {std::nullopt, is_whole_of_it && of(what.field("object"), depth + 1).is_new};
    }
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
      // The rest of a number that is no integer may be any, and that of a tensor is a tensor.
      if (limit && *limit > 0 && is_whole(what.field("left"), depth)) return {limit};
      return {};
    }
    const auto left = of(what.field("left"), depth + 1);
    const auto right = of(what.field("right"), depth + 1);
    const bool keeps_new = sign == "+" || sign == "-" || sign == "*";
    if (keeps_new && ((left.is_new && right.count == 1) || (right.is_new && left.count == 1)))
      return {std::nullopt, true};
    return both(left, right);
  }

  [[nodiscard]] static domain both(const domain& one, const domain& other) {
    constexpr double most = 1e9;
    if (!one.count || !other.count) return {};
    const auto all = static_cast<double>(*one.count) * static_cast<double>(*other.count);
    return all < most ? domain{*one.count * *other.count} : domain{};
  }

  // Whether something in an expression is made by PyTorch, or is what that has made.
  [[nodiscard]] bool has_tensor(const node& what, unsigned depth = 0) const {
    if (depth > deepest) return true;
    return std::ranges::any_of(what.all(), [&](const node& one) {
      if (one.is("call")) return first_of(one.field("function")) == "torch";
      if (!one.is("identifier") || one.parent().is("attribute")) return false;
      const auto value = in_.value.only_value_of(one);
      return value && value != what && has_tensor(value, depth + 1);
    });
  }

  // Whether a number is a whole one, as far as it can be known of what it is called by: whatever
  // counts, a length, and what is calculated of those without a fraction.
  [[nodiscard]] bool is_whole(const node& expression, unsigned depth) const {
    const auto what = unwrapped(expression);
    if (!what || depth > deepest) return false;
    if (what.is("integer") || in_.value.of(what)) return true;
    if (what.is("binary_operator")) {
      const auto sign = what.field("operator").text();
      const bool stays = sign == "+" || sign == "-" || sign == "*" || sign == "//" || sign == "%" ||
                         sign == "&" || sign == "|" || sign == "^" || sign == ">>" || sign == "<<";
      return stays && is_whole(what.field("left"), depth + 1) &&
             is_whole(what.field("right"), depth + 1);
    }
    if (what.is("unary_operator")) return is_whole(what.child(0), depth + 1);
    if (what.is("call")) {
      const auto function = what.field("function");
      const auto name = function.text();
      const bool of_python = name == "len" || name == "int" || name == "hash" || name == "id" ||
                             name == "ord" || name == "round";
      if (of_python && in_.file.is_of_python(function))
        return name != "round" || arguments_of(what).size() == 1;
      const auto last = function.field("attribute").text();
      return first_of(function) == "random" && (last == "randrange" || last == "randint");
    }
    if (!what.is_any({"identifier", "attribute"})) return false;
    if (in_.value.is_counter(what)) return true;
    if (const auto value = in_.value.only_value_of(what)) return is_whole(value, depth + 1);
    return is_whole_in_each(what, depth);
  }

  // Of a parameter, in all calls; of a variable of a loop over range().
  [[nodiscard]] bool is_whole_in_each(const node& name, unsigned depth) const {
    const auto owner = in_.file.owner_of(name, name.text());
    if (!name.is("identifier") || !source_file::has_parameter(owner, name.text())) return false;
    const auto calls = all_calls_of(in_.file, owner);
    return calls && std::ranges::all_of(*calls, [&](const node& call) {
             for (const auto& one : arguments_of(call)) {
               if (in_.file.parameter_for(owner, call, one) != name.text()) continue;
               return is_whole(one.is("keyword_argument") ? one.field("value") : one, depth + 1);
             }
             return false;
           });
  }

  // The package of torch.nn.functional.pad, of randint of `from random import randint`.
  [[nodiscard]] std::string_view first_of(const node& function) const {
    auto first = function;
    while (first.is("attribute")) first = first.field("object");
    if (!first.is("identifier") || !in_.file.is_library(first.text())) return {};
    const auto owner = in_.file.owner_of(first, first.text());
    return owner && owner != in_.file.function_of(first) ? std::string_view()
                                                         : in_.file.package_of(first.text());
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
    const auto package = first_of(name);
    // A tensor is the same key as no other one.
    if (last == "randint" && package == "torch" && !of_tensor_) return {};
    const bool of_python = in_.file.is_of_python(name);
    if (given.size() == 1 && of_python &&
        (last == "int" || last == "str" || last == "hash" || last == "repr" || last == "round")) {
      return of(given.front(), depth + 1);
    }
    if (is_new(what, package, last)) return {std::nullopt, true};
    // Whoever makes numbers at random: random, self.chance = random.Random(1)
    const bool of_library = !package.empty() || reads_by_library(in_.file, name);
    if (of_library && last == "randrange" && given.size() == 1) return {in_.value.of(given[0])};
    if (of_library && (last == "randint" || last == "randrange") && given.size() >= 2) {
      const auto low = in_.value.of(given[0]);
      const auto high = in_.value.of(given[1]);
      if (low && high && *high >= *low) return {*high - *low + 1};
      return {};
    }
    if (of_library && last == "choice" && given.size() == 1)
      return of_elements(given[0], depth + 1, 0);
    if (of_python && last == "next" && !given.empty() && is_count(given[0]))
      return {std::nullopt, true};
    return {};
  }

  // itertools.count(), or a name for one.
  [[nodiscard]] bool is_count(const node& counter) const {
    auto what = unwrapped(counter);
    if (what.is_any({"identifier", "attribute"})) what = unwrapped(in_.value.only_value_of(what));
    const auto function = what.field("function");
    const auto last = function.is("attribute") ? function.field("attribute") : function;
    return last.text() == "count" && first_of(function) == "itertools";
  }

  // What Python's library makes anew in each call, or what only rises: uuid4(), time(), object();
  // len(kept), as long as nothing is taken out of it; id(x) of what is kept itself.
  [[nodiscard]] bool is_new(const node& call, std::string_view package,
                            std::string_view name) const {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 24> of_library = {
        {{"uuid", "uuid1"},           {"uuid", "uuid4"},
         {"uuid", "uuid6"},           {"uuid", "uuid7"},
         {"uuid", "uuid8"},           {"time", "time"},
         {"time", "time_ns"},         {"time", "perf_counter"},
         {"time", "perf_counter_ns"}, {"time", "monotonic"},
         {"time", "monotonic_ns"},    {"time", "process_time"},
         {"time", "process_time_ns"}, {"time", "thread_time"},
         {"datetime", "now"},         {"datetime", "utcnow"},
         {"datetime", "today"},       {"secrets", "token_hex"},
         {"secrets", "token_bytes"},  {"secrets", "token_urlsafe"},
         {"random", "random"},        {"random", "uniform"},
         {"random", "gauss"},         {"os", "urandom"}}};
    const std::pair asked(package, name);
    // date.today() is one for a whole day.
    const bool is_a_day = name == "today" && call.field("function").text().find("datetime.t") ==
                                                 std::string_view::npos;
    if (std::ranges::find(of_library, asked) != of_library.end()) return !is_a_day;
    if (!in_.file.is_of_python(call.field("function"))) return false;
    if (name == "len") return in_.is_length(call) && is_never_less();
    const auto given = arguments_of(call);
    if (name == "object") return given.empty();
    return name == "id" && given.size() == 1 && is_kept(unwrapped(given[0]));
  }

  // Nothing takes out of it, nor gives it another one than where it begins.
  [[nodiscard]] bool is_never_less() const {
    return std::ranges::none_of(in_.uses.all, [&](const use& one) {
      if (one.kind == use_kind::shrink || one.kind == use_kind::cut || one.kind == use_kind::empty)
        return true;
      return one.kind == use_kind::assign &&
             !source_file::is_constructor(in_.file.function_of(one.at)) &&
             in_.file.is_repeated(one.at, in_.asked.running);
    });
  }

  // An object that has just been made and that is put in under its own id.
  [[nodiscard]] bool is_kept(const node& object) const {
    if (!grows_ || !object.is("identifier")) return false;
    const auto parts = grows_->value.all();
    const bool is_in = std::ranges::any_of(parts, [&](const node& one) {
      return one.is("identifier") && one.text() == object.text() &&
             one.parent().is_any(
                 {"assignment", "tuple", "list", "expression_list", "argument_list", "pair"});
    });
    const auto made = in_.value.only_value_of(object);
    return is_in && made.is_any({"call", "binary_operator", "list", "dictionary"}) &&
           in_.file.function_of(made) == in_.file.function_of(object) &&
           loops_around(made) == loops_around(object);
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
  const use* grows_;
  bool of_tensor_ = false;  // a number that is taken out of one
};

// A parameter that the function gives something else.
[[nodiscard]] bool is_given_again(const case_at_hand& in, const node& name, const node& function) {
  return std::ranges::any_of(in.file.named(name.text()), [&](const node& one) {
    return given_by(one) && in.file.owner_of(one, one.text()) == function;
  });
}

// Where the key comes from a parameter, what the callers give for it.
[[nodiscard]] domain domain_of_key(const case_at_hand& in, const use& grows) {
  const auto& key = grows.key;
  domains known(in, &grows);
  const auto here = known.of(key);
  const auto what = unwrapped(key);
  if (here.count || here.is_new || !what.is("identifier")) return here;
  const auto function = in.file.owner_of(what, what.text());
  const auto calls = in.file.calls_of(function);
  if (!function || calls.empty() || in.value.only_value_of(what)) return here;
  if (is_given_again(in, what, function)) return {};
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
  in.value.rely_on(function.field("name").text());
  return all_calls_of(in.file, function) ? all : domain{};
}

[[nodiscard]] bool has_places(const std::string& container) {
  return container == "list" || container == "deque" || container == "ndarray" ||
         container == "array";
}

}  // namespace

namespace {

// keys[layer] = torch.cat([keys[layer], new]): the keys are few, and each value gets longer.
[[nodiscard]] bool is_made_longer(const case_at_hand& in, const use& puts) {
  if (puts.kind != use_kind::put) return false;
  const auto parts = puts.value.all();
  return std::ranges::any_of(parts, [&](const node& call) {
    if (!call.is("call")) return false;
    const auto given = call.field("arguments").all();
    return std::ranges::any_of(given,
                               [&](const node& one) { return means_any(in.file, one, in.uses); });
  });
}

}  // namespace

std::optional<bound> by_keys(const case_at_hand& in, const use& grows) {
  if (!grows.key || is_made_longer(in, grows)) return std::nullopt;
  if (grows.kind == use_kind::put && !is_dictionary(in.asked.container)) {
    // groups.setdefault(key, []).append(x): a dictionary has this list, which gets longer.
    if (grows.at.is("call")) return std::nullopt;
    // A list has no more places than it has; a class of its own may be anything.
    if (!has_places(in.asked.container)) return std::nullopt;
    if (in.asked.length == 0 || in.asked.container.empty()) return std::nullopt;
    return case_at_hand::shown(bound_kind::keys, grows.at,
                               static_cast<std::int64_t>(in.asked.length));
  }
  const auto keys = domain_of_key(in, grows);
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
  return domain_of_key(in, grows).is_new;
}

}  // namespace memtrace::program
