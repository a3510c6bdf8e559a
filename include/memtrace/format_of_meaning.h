// SPDX-License-Identifier: Apache-2.0
//
// Part of the trace format (memtrace/trace_format.h, which includes this): flags and enumerations of
// the records that say what memory means.
#pragma once

#include <cstdint>

namespace memtrace::format {

// For `scope`: the state of the thread when it allocated or freed.
inline constexpr std::uint32_t scope_grad = 1;        // autograd records (grad mode)
inline constexpr std::uint32_t scope_inference = 2;   // inference mode
inline constexpr std::uint32_t scope_backward = 4;    // autograd's engine runs a node here
inline constexpr std::uint32_t scope_autocast = 8;    // autocast is on for CUDA
inline constexpr std::uint32_t scope_cast = 16;       // inside autocast's cast of an operand
inline constexpr std::uint32_t scope_optimizer = 32;  // inside Optimizer.step
// In backward the module is that whose gradient is computed; with this flag one that runs right
// now, in a recomputation (checkpointing) or a custom backward.
inline constexpr std::uint32_t scope_recompute = 64;

// Fields of a named module.
inline constexpr std::uint32_t module_training = 1;
inline constexpr std::uint32_t module_checkpointed = 2;  // its forward runs under checkpoint()
inline constexpr std::uint32_t module_compiled = 4;      // torch.compile made it

// The meaning of a storage, and who said so.
enum class storage_role : std::uint32_t {
  parameter = 1,        // name: path in the root module; detail: dtype; object: the root
  buffer = 2,           // the same
  gradient = 3,         // of the parameter `name`, as .grad of it
  optimizer_state = 4,  // name: the parameter; detail: the key; object: the optimizer
  input = 5,            // an argument of the root module's forward
  output = 6,           // a result of it
  workspace = 7,        // handed to a library; name: cublas, cublasLt, cudnn
  host_copy = 8,        // filled by a copy from the host
  leaf = 9,             // a leaf tensor that backward has accumulated a gradient for
  leaf_gradient = 10,   // that gradient (.grad); `bytes` of the record is the leaf's address
  user = 11,            // annotated by the program; name: its name, detail: its category
  cast = 12,            // autocast's copy of the leaf tensor at the address in `bytes`
  copy = 13,            // a copy of a module's parameter that no forward uses (EMA, deepcopy)
  held = 14,            // found by a heap scan: what keeps it alive, see below
  generated = 15,       // of no memory yet: what a line of generated code asks for, see below
};
// Fields of `storage`.
inline constexpr std::uint32_t storage_trainable = 1;  // a parameter that requires a gradient

// A heap scan says of each storage on a GPU what keeps it alive: the records `held` between its
// begin and its end. `name` is the path from a name in the program, as Python would write it, with
// whatever changes from one element to the next left out: "self.outputs[…]", "losses[…].grad_fn".
// `detail` has up to thirteen fields, separated by 0x1f (empty: not known):
//   container   class of the innermost container on the path: "list"
//   length      its number of elements, in decimal
//   owner       what has the first name of the path: "local of fit", "global of __main__",
//               "closure of step", "default of hook", "traceback of OutOfMemoryError", "nothing: a
//               cycle or C++", "a statement that runs, or C++", …
//   file, line  of the owner's function (its first line) or module
//   holder      class of the object whose attribute the container is: "Trainer"
//   numbers     whole numbers no smaller than the length that the objects on the path, the owner's
//               function and the main module had then, "capacity=40,budget=320", and which of their
//               switches were off, "reset_real=False"
//   levels      of each item on the path, "[…]" or "['key']", from the first: how many elements the
//               longest of its containers had; after "<" the most that it may have, if it is
//               bounded by itself; of a dictionary, what its keys are (i: whole numbers; k:
//               something else holds them, too; n: nothing does); and after "/" the same of
//               containers in containers that the path does not tell apart. "45,6", "10i/8",
//               "3,4<4"
//   classes     of each attribute on the path, from the first: class of the object that has it
//               (empty: not known). "Trainer,Replay" of self.replay.items[…]; traces of older
//               versions have fewer fields
//   also        the path of another container that has the same memory, if one was met: "logvars[…]" of a
//               tensor whose other half is in `means`
//   used        with held_view alone: bytes of the tensors that were found, together
//   shape       where memory has run out: sizes of the tensor that was found first, of two to five
//               dimensions, if it is all that its memory is for: "8,3,224,224"
//   trainer     likewise, with held_trained: class of the optimizer that has it, and whether with a
//               momentum: "AdamW", "SGD,momentum"
// Flags of `held`:
inline constexpr std::uint32_t held_graph = 2;        // kept by an autograd graph, through grad_fn
inline constexpr std::uint32_t held_traceback = 4;    // by the frames of an exception's traceback
inline constexpr std::uint32_t held_hook = 8;         // by a module's or a tensor's hook
inline constexpr std::uint32_t held_bounded = 16;     // the container is bounded: deque(maxlen=…)
inline constexpr std::uint32_t held_view = 32;        // by views that use less than half of it
inline constexpr std::uint32_t held_gradient = 64;    // as .grad
inline constexpr std::uint32_t held_has_graph = 128;  // by a tensor that has a grad_fn itself
inline constexpr std::uint32_t held_unreachable = 256;  // from no name: a cycle, or C++ alone
inline constexpr std::uint32_t held_trained = 512;  // stands in an optimizer's param_groups, too
// By a container without a name that no object refers to, and so is in no cycle: a statement that runs
// makes it, as a comprehension its list, or passes it on; or C++ has it.
inline constexpr std::uint32_t held_statement = 1024;
inline constexpr std::uint32_t held_state = 2048;  // by an optimizer alone, and it is not trained

// torch.compile writes Python files whose lines allocate for many lines of the program at once.
// When such a file is loaded, each line of it that may allocate is told, before it runs, with the
// line of the program whose result, gradient or scratch memory it makes; further records tell what
// is made by the same kernel. `name`: the operators, separated by blanks; `object`: the module that
// the program's line ran in (none: that of `owner`).
// Flags of `generated`:
inline constexpr std::uint32_t generated_backward = 2;  // code of a backward pass
inline constexpr std::uint32_t generated_further = 4;   // one more source of the record before it
// The code was read back from a cache, where some sources are told by their order alone.
inline constexpr std::uint32_t generated_from_cache = 8;

enum class census_action : std::uint32_t { begin = 0, end = 1 };
enum class census_reason : std::uint32_t {
  high_water = 1,  // more memory was allocated than ever before
  step = 2,        // at the end of a step
  out_of_memory = 3,
  exit = 4,
  signal = 5,
  program = 6,   // memtrace_census()
  interval = 7,  // so many forward calls, or events, without a step
};
// Fields of its end.
inline constexpr std::uint32_t census_incomplete = 1;      // a limit was reached
inline constexpr std::uint32_t census_without_graphs = 2;  // what tensors' graphs keep is not in it

// Fields of `saved`.
inline constexpr std::uint32_t saved_requires_grad = 1;  // part of the graph, or a leaf to train
inline constexpr std::uint32_t saved_leaf = 2;           // no result of a differentiable operation
inline constexpr std::uint32_t saved_autocast = 4;       // autocast was on
inline constexpr std::uint32_t saved_output = 8;         // the operation's result, not its operand
inline constexpr std::uint32_t saved_packed = 16;        // hooks took it instead and may drop it
inline constexpr std::uint32_t saved_attribute = 32;     // of a custom Function's context

// Records `source`: one file after the other, each once. Its text is in parts of at most
// source_part_bytes, whose records repeat the other fields and say where in the text they begin. A
// part that is missing (`offset` does not follow) makes the text unknown; offset 0 begins it anew.
// The text is byte for byte what the file held when the recorder read it, soon after it had been
// met; `bytes` and `digest`, the SHA-256 of the whole text in hexadecimal digits, are those of the
// file as it was read, so that `sha256sum` of a file that is at hand says whether it is the same.
// With one of the last two flags there is neither text nor digest.
// Flags of `source`:
// Its time of modification, or of the last change of its inode, is later than the loading of the
// recorder (which a forked child inherits): what runs may be another text.
inline constexpr std::uint32_t source_changed = 1;
inline constexpr std::uint32_t source_too_large = 2;  // alone, or with those before it
inline constexpr std::uint32_t source_unreadable =
    4;  // missing, forbidden, no regular file, too slow
inline constexpr std::uint32_t source_part_bytes = 32u << 10;
inline constexpr std::uint32_t most_source_bytes = 512u << 10;  // of one file
inline constexpr std::uint32_t most_sources_bytes = 4u << 20;   // of all files of a trace
inline constexpr std::uint32_t most_sources = 4096;

// Records `length`: how many elements a container has at the end of a step, one record each, right
// behind that of the step. `path` is what `held` calls it, before its first "[…]" ("self.outputs"),
// `owner` the third field of that one's detail. Only containers that names alone lead to; where
// one is missing between others, its name leads to no container then.

// Records `expectation`: growth that the program expects (memtrace_expect_growth). Without a flag
// `what` is a pattern, as a line of a suppressions file has one. Of an object, it is what a heap scan
// would call it, if it were taken where that was said; what keeps memory under this name is expected
// to grow, also if the name stands for another object by then. Several records of the same place
// belong together.
// Flags of `expectation`:
inline constexpr std::uint32_t expectation_object = 1;
inline constexpr std::uint32_t expectation_tensor = 2;    // an object in which nothing else is
inline constexpr std::uint32_t expectation_nameless = 4;  // no name led there: `what` is its class
inline constexpr std::uint32_t most_expectations = 4096;

enum class phase_action : std::uint32_t { begin = 0, end = 1, instant = 2 };
enum class phase_source : std::uint32_t {
  user = 1,            // memtrace_phase_begin
  nvtx = 2,            // a range of the program
  backward = 3,        // autograd's engine
  optimizer_step = 4,  // object: the optimizer; name: its class
};
enum class step_source : std::uint32_t {
  user = 1,       // memtrace_step
  optimizer = 2,  // object: the optimizer; name: its class
};

}  // namespace memtrace::format
