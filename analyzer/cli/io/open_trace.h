// SPDX-License-Identifier: Apache-2.0
//
// Finding and opening traces, for all subcommands that read some.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::cli {

struct open_trace {
  std::unique_ptr<trace::byte_source> source;
  std::unique_ptr<trace::reader> reader;
};

// A trace, or a snapshot of PyTorch's, which is made one. Nothing, after one sentence on stderr,
// when it cannot be opened or is neither.
[[nodiscard]] std::optional<open_trace> open(const std::string& path);

// A file was named that is neither, but some other pickle, a checkpoint, or what is left of a
// snapshot.
[[nodiscard]] bool refused_a_snapshot();

// Before any is read: the subcommand that reads, for sentences that say what to write instead.
void begin_reading_for(const char* subcommand);

// The folders below a directory, at most three deep, in which there are traces; sorted.
[[nodiscard]] std::vector<std::string> folders_with_traces(const std::string& directory);

// The traces among these files and in these directories. Nothing, after one sentence on stderr,
// when there are none.
[[nodiscard]] std::optional<std::vector<std::string>> find(const std::vector<std::string>& names);

// The same, but of each directory only the newest run; where it has several, a line says which.
[[nodiscard]] std::optional<std::vector<std::string>> find_newest(
    const std::vector<std::string>& names);

// The same for limits that each run has to keep: nothing, after one sentence, where a directory has
// several runs.
[[nodiscard]] std::optional<std::vector<std::string>> find_only(
    const std::vector<std::string>& names);

// The first of `after` that is in `before`, too, under whatever name; null: none.
[[nodiscard]] const std::string* in_both(const std::vector<std::string>& before,
                                         const std::vector<std::string>& after);

// Opens one after the other and reads it; why it was not read as a whole is complained of, a
// sentence each. False: there was something to complain of.
[[nodiscard]] bool each_trace(
    const std::vector<std::string>& paths,
    const std::function<std::vector<std::string>(const std::string& path, trace::reader& reader)>&
        read);

// The damage of a trace in words; empty: it has none.
[[nodiscard]] std::vector<std::string> sentences_of(const trace::completeness& facts);

// "memtrace: PATH: SENTENCE" on stderr.
void complain(const std::string& path, const std::string& sentence);
void complain(const std::string& path, const trace::error& error);

// Shows how far reading is, on stderr when that is a terminal, for traces that take a while.
[[nodiscard]] std::function<void(const trace::progress&)> show_progress(const std::string& path);
// The same for a snapshot that is made a trace first: bytes, of so many.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> show_reading(
    const std::string& path);
// The same for what is replayed after that.
[[nodiscard]] std::function<void(const advice::replay_progress&)> show_replays(
    const std::string& path);
void end_progress();

}  // namespace memtrace::cli
