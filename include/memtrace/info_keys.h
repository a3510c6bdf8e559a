// SPDX-License-Identifier: Apache-2.0
//
// Part of the trace format (memtrace/trace_format.h, which includes this).
#pragma once

#include <cstddef>

namespace memtrace::format {

// Keys of `info`, so that writer and reader agree. Values are text; unknown ones are absent.
namespace info_key {
inline constexpr char command[] = "command";  // arguments separated by NUL
inline constexpr char host[] = "host";
inline constexpr char rank[] = "rank";  // RANK, else OMPI_COMM_WORLD_RANK, …
inline constexpr char local_rank[] = "local_rank";
inline constexpr char world_size[] = "world_size";
// Of a dry run: "0,7,511", the ranks of the world that were run, where the others were played
inline constexpr char running_ranks[] = "running_ranks";
// MEMTRACE_RUN: equal in all processes that one `memtrace run` or `memtrace dry-run` started; ends in
// a dot and that command's process id
inline constexpr char run[] = "run";
inline constexpr char torch[] = "torch";                // 2.11.0+cu130
inline constexpr char cuda_runtime[] = "cuda_runtime";  // 13000, as cudaRuntimeGetVersion says
inline constexpr char cuda_driver[] = "cuda_driver";
inline constexpr char python[] = "python";          // 3.11.7
inline constexpr char alloc_conf[] = "alloc_conf";  // PYTORCH_CUDA_ALLOC_CONF or PYTORCH_ALLOC_CONF
inline constexpr char simulated[] = "simulated";    // the simulated GPU's model name
inline constexpr char python_stacks[] = "python_stacks";  // "on", or why they are off
// "tracker", "reports" in the fallback, or "snapshot": what PyTorch's own recorder kept
inline constexpr char event_source[] = "event_source";
// What the first process of a run gave to exit() or returned from main(), and the system's id of its
// main thread. None of others, whose errors their parents may be told another way, nor where it was
// killed, called _exit() or still runs
inline constexpr char exit_status[] = "exit_status";
inline constexpr char main_thread[] = "main_thread";
inline constexpr char memtrace_version[] = "memtrace_version";
inline constexpr char mode[] = "mode";  // MEMTRACE: minimal, standard, full (capabilities.h)
inline constexpr char capabilities[] = "capabilities";  // the rows that are on, spaces between
inline constexpr char refused[] = "refused";  // "row: why it is off after all", one record each
// Where the recording began in a process that ran already: bytes that PyTorch had allocated then
inline constexpr char found[] = "found";
inline constexpr char agent[] = "agent";        // "on", or why names and states are unknown
inline constexpr char autograd[] = "autograd";  // "on", or which of its functions are missing
// The most positions that a model of the program has (Transformers' max_position_embeddings); one
// record each time that a model with more is seen
inline constexpr char positions[] = "positions";
// Of a read of the simulated GPU's memory that gave zeros, because nothing computed it: the number of
// its stack, a space, and PyTorch's operator, where the stack does not say it; one record for each
// stack
inline constexpr char unknown_read[] = "unknown_read";
// A file whose machine code is in stacks, before the first of them: its build id in hexadecimal
// digits or, without one, "BYTES.MODIFIED_NS"; a space; its path, as frames have it. A frame of
// machine code has no line; its function is the one that the file exports there, or nothing, and
// "+0x1f2a", the address as the file's program headers have it
inline constexpr char library[] = "library";
// In a copy without the program's text: what was proved of it, one record each. Fields: the stack of
// what grows; path, owner, file, line and holder of what keeps it; "bounded by …", "doubt: …" or
// nothing; file, line and value of that; "reallocated", "made of itself" or neither
inline constexpr char proved[] = "proved";
// For a trace that the analyzer made of another file, for itself: which file. "pytorch_snapshot",
// "profiler_trace"
inline constexpr char source[] = "source";
// For such a trace: "none", "whole" (from the first allocation on) or "late"; bytes that were
// allocated when the history begins; frames: "none", "python", "all" (with C++); how backward is
// known: "frames", "threads", "assumed" (no Python frames), or not; "yes" if events have times;
// events that do not fit the segments at the end; events of unknown kinds; whether replaying the
// events ends with the segments and blocks that are there, or each total follows from the one
// before: "equal", "different"
inline constexpr char snapshot_history[] = "snapshot_history";
inline constexpr char snapshot_held[] = "snapshot_held";
inline constexpr char snapshot_stacks[] = "snapshot_stacks";
inline constexpr char snapshot_backward[] = "snapshot_backward";
inline constexpr char snapshot_times[] = "snapshot_times";
inline constexpr char snapshot_contradictions[] = "snapshot_contradictions";
inline constexpr char snapshot_skipped[] = "snapshot_skipped";
inline constexpr char snapshot_end[] = "snapshot_end";
}  // namespace info_key

inline constexpr char proved_separator = 0x1f;
inline constexpr unsigned proved_file_fields[] = {3, 7};
inline constexpr std::size_t most_proofs = 4096;

}  // namespace memtrace::format
