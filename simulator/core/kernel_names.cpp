// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/kernel_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace memtrace::simulator::kernel_names {
namespace {

using std::string_view;

bool has(string_view name, string_view part) {
  return name.find(part) != string_view::npos;
}

element element_of(char letter) {
  switch (letter) {
    case 'b':
    case 'a':
    case 'h':
      return {letter, 1};
    case 's':
    case 't':
      return {letter, 2};
    case 'i':
    case 'j':
    case 'f':
      return {letter, 4};
    case 'l':
    case 'm':
    case 'd':
      return {letter, 8};
    default:
      return {};
  }
}

// The type that begins the text.
element element_at(string_view text) {
  if (text.rfind("N3c104HalfE", 0) == 0 || text.rfind("N3c108BFloat16E", 0) == 0) return {0, 2};
  return text.empty() ? element{} : element_of(text.front());
}

// The type of a lambda's first argument, the first lambda after `from` that has one.
element lambda_argument(string_view name, std::size_t from) {
  for (std::size_t at = name.find("EUl", from); at != string_view::npos;
       at = name.find("EUl", at + 1)) {
    const element found = element_at(name.substr(at + 3));
    if (found.bytes != 0) return found;
  }
  return {};
}

struct named_functor {
  string_view name;
  operation what;
};

constexpr named_functor functors[] = {
    {"15CUDAFunctor_addI", operation::add},
    {"21CUDAFunctorOnSelf_addI", operation::add},
    {"16BitwiseOrFunctorI", operation::bitwise_or},
    {"17BitwiseAndFunctorI", operation::bitwise_and},
    {"17BitwiseXorFunctorI", operation::bitwise_xor},
    // For truth values, as with isfinite: it holds for what is unknown, which counts as zero.
    {"10MulFunctorIbE", operation::bitwise_and},
    {"16CompareEqFunctorI", operation::equality},
    {"14CompareFunctorI", operation::comparison},
};

constexpr named_functor lambdas[] = {
    {"direct_copy_kernel_cuda", operation::copy},
    {"bitwise_not_kernel_cuda", operation::bitwise_not},
    {"logical_not_kernel_cuda", operation::logical_not},
};

constexpr named_functor reductions[] = {
    {"11sum_functorI", operation::sum},       {"13MaxNanFunctorI", operation::maximum},
    {"13MinNanFunctorI", operation::minimum}, {"14or_kernel_cuda", operation::any},
    {"15and_kernel_cuda", operation::all},
};

bool gives_bool(operation what) {
  return what == operation::equality || what == operation::comparison ||
         what == operation::logical_not;
}

void describe_operation(string_view name, description& result) {
  if (const std::size_t at = name.find("11FillFunctorI"); at != string_view::npos) {
    result.what = operation::fill;
    result.output = element_at(name.substr(at + 14));
  }
  for (const auto& [functor, what] : functors) {
    const std::size_t at = name.find(functor);
    if (at == string_view::npos) continue;
    result.what = what;
    // For a type that is part of the name it is the letter before the last.
    result.input = functor.back() == 'E' ? element_of(functor[functor.size() - 2])
                                         : element_at(name.substr(at + functor.size()));
    if (what == operation::add && result.input.letter != 'l' && result.input.letter != 'i') {
      result.what = operation::none;
      return;
    }
    if (has(name, "CUDAFunctorOnSelf_addI")) result.scalar = scalar_side::right;
    if (has(name, "13AUnaryFunctorI")) result.scalar = scalar_side::left;
    if (has(name, "13BUnaryFunctorI")) result.scalar = scalar_side::right;
  }
  for (const auto& [function, what] : lambdas) {
    const std::size_t at = name.find(function);
    if (at == string_view::npos) continue;
    result.what = what;
    result.input = lambda_argument(name, at);
  }
  if (result.what != operation::fill) {
    result.output = gives_bool(result.what) ? element_of('b') : result.input;
    if (result.input.letter == 0) result.what = operation::none;
  }
  if (result.output.bytes == 0) result.what = operation::none;
}

void describe_reduction(string_view name, description& result) {
  for (const auto& [functor, what] : reductions) {
    const std::size_t at = name.find(functor);
    if (at == string_view::npos) continue;
    const bool truth = what == operation::any || what == operation::all;
    const element type =
        truth ? lambda_argument(name, at) : element_at(name.substr(at + functor.size()));
    if (type.letter == 0 || (truth && type.letter != 'b')) return;
    result.what = what;
    result.input = result.output = type;
  }
}

bool is_number(string_view type) {
  constexpr string_view numbers[] = {"bool",   "char",      "short",        "int",
                                     "long",   "float",     "double",       "unsigned",
                                     "signed", "c10::Half", "c10::BFloat16"};
  for (const string_view number : numbers) {
    if (type.rfind(number, 0) == 0) return true;
  }
  return false;
}

// An argument's type: "float*" is written, "float const*" is not, "at::Thing" may hold anything.
void classify(string_view type, unsigned position, description& result) {
  if (type.size() < 2) return;
  if (type.back() == '*') {
    if (!has(type, "const*")) result.written.push_back(position);
  } else if (!is_number(type)) {
    result.structures.push_back(position);
  }
}

// Where the last, outermost "(" is, or the end.
std::size_t arguments_begin(string_view demangled) {
  int depth = 0;
  for (std::size_t at = demangled.size(); at > 0; --at) {
    const char c = demangled[at - 1];
    if (c == ')') ++depth;
    if (c == '(' && --depth == 0) return at;
  }
  return demangled.size();
}

void classify_arguments(string_view demangled, description& result) {
  if (demangled.empty() || demangled.back() != ')') return;
  int depth = 0;
  unsigned position = 0;
  std::size_t start = arguments_begin(demangled);
  for (std::size_t at = start; at < demangled.size(); ++at) {
    const char c = demangled[at];
    const bool last = at + 1 == demangled.size();
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && !last) --depth;
    if (!last && (c != ',' || depth != 0)) continue;
    classify(demangled.substr(start, at - start), position++, result);
    start = at + 2;
  }
}

description describe_signature(const char* mangled) {
  description result;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free);
  if (!text) return result;
  result.form = layout::arguments;
  // It updates the scale of mixed precision in place; with nothing infinite it leaves it alone.
  if (!has(text.get(), "amp_update_scale")) classify_arguments(text.get(), result);
  return result;
}

// The number after `before`, from `at` on; moves `at` behind it. 0 if there is none.
unsigned number_after(string_view name, string_view before, std::size_t& at) {
  at = name.find(before, at);
  if (at == string_view::npos) return 0;
  at += before.size();
  unsigned value = 0;
  while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
    value = value * 10 + static_cast<unsigned>(name[at++] - '0');
  }
  return value;
}

// CatArrayBatchedCopy<OpaqueType<bytes>, unsigned int, dimensions, slots, …>.
description describe_concatenation(string_view name) {
  description result;
  std::size_t at = 0;
  result.output.bytes = number_after(name, "OpaqueTypeILj", at);
  if (result.output.bytes == 0 || name.substr(at, 4) != "EEEj") return {};
  (void)number_after(name, "Li", at);
  if (at == string_view::npos) return {};
  result.slots = number_after(name, "Li", at);
  if (result.slots != 0) result.form = layout::concatenation;
  return result;
}

}  // namespace

description describe(const char* mangled) {
  const string_view name(mangled);
  const auto begins = [&](string_view start) { return name.rfind(start, 0) == 0; };
  description result;
  const bool unrolled = begins("_ZN2at6native27unrolled_elementwise_kernelI");
  if (unrolled || begins("_ZN2at6native29vectorized_elementwise_kernelI")) {
    result.form = layout::flat;
    result.casts = has(name, "12LoadWithCastI");
    describe_operation(name, result);
    return result;
  }
  if (begins("_ZN2at6native18elementwise_kernelI")) {
    result.form = layout::strided;
    return result;
  }
  if (begins("_ZN2at6native13reduce_kernelI")) {
    result.form = layout::reduction;
    describe_reduction(name, result);
    return result;
  }
  if (has(name, "CatArrayBatchedCopy") && !has(name, "CatArrayBatchedCopy_vectorized")) {
    const description found = describe_concatenation(name);
    if (found.form != layout::unknown) return found;
  }
  return describe_signature(mangled);
}

}  // namespace memtrace::simulator::kernel_names
