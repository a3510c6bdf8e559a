// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/text/units.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/help/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/io/temporary_folder.h"
#include "analyzer/cli/io/unfinished_file.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/export/formats/export_process.h"
#include "analyzer/export/formats/formats.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

struct export_options {
  std::vector<std::string> traces;
  std::string format;
  std::string output;
  std::string at;
  std::string from;
  std::string to;
  std::optional<std::uint64_t> rank;
  std::size_t top = 0;
  bool force = false;
  bool scrub = false;
};

// "memtrace-perfetto-train.py.3955.pftrace", in the working directory.
[[nodiscard]] std::string default_name(const exporting::format_row& format,
                                       const std::vector<std::string>& named) {
  auto trace = fs::path(named.front()).lexically_normal();
  if (!trace.has_filename()) trace = trace.parent_path();  // "traces/"
  if (trace.extension() == ".mtrace") trace.replace_extension();
  const auto name = trace.filename().string();
  return fmt::format("memtrace-{}-{}.{}", format.name,
                     name.empty() || name == "." ? "traces" : name, format.extension);
}

// False, after one sentence on stderr.
[[nodiscard]] bool take_moment(const char* option, const std::string& text, bool with_phase,
                               std::optional<run::wanted_moment>& to) {
  if (text.empty()) return true;
  to = run::parse_moment(text);
  if (to && (with_phase || !to->in)) return true;
  log::error("{} {}: write event:1234{} step:7{} (both count from 0)", option, text,
             with_phase ? "," : " or", with_phase ? " or step:7/backward" : "");
  return false;
}

// Those of several traces that are of the rank. Nothing, after one sentence on stderr, if none is.
[[nodiscard]] std::vector<std::string> of_rank(std::vector<std::string> paths, std::uint64_t rank) {
  std::erase_if(paths, [&](const std::string& path) {
    const auto opened = open(path);
    return !opened || exporting::rank_of(*opened->reader) != rank;
  });
  if (paths.empty()) log::error("--rank {}: none of these traces is of that rank", rank);
  return paths;
}

// A folder that --force would delete holds nothing but files of the format. False, after one
// sentence on stderr.
[[nodiscard]] bool may_replace_folder(const std::string& path, std::string_view extension) {
  std::error_code failed;
  if (!fs::exists(fs::symlink_status(path, failed))) return true;
  bool is_own = fs::is_directory(fs::symlink_status(path, failed));
  for (fs::directory_iterator at(path, failed), end; is_own && !failed && at != end;
       at.increment(failed)) {
    is_own = at->is_regular_file(failed) && at->path().extension() == fmt::format(".{}", extension);
  }
  if (is_own && !failed) return true;
  log::error("{}: is not a folder of .{} files alone, so it is not replaced; choose another name",
             path, extension);
  return false;
}

[[nodiscard]] int write(const std::vector<std::string>& paths, const export_options& options,
                        const exporting::format_row& format, exporting::chosen wanted) {
  const auto name = options.output.empty() ? default_name(format, options.traces) : options.output;
  if (!may_write(name, options.force) ||
      (format.is_folder && !may_replace_folder(name, format.extension))) {
    return failure;
  }
  const exporting::options how_to{options.top, MEMTRACE_VERSION, paths.size()};
  if (const auto lacking = format.lacks ? format.lacks(how_to) : std::nullopt) {
    log::error("{}", *lacking);
    return failure;
  }
  unfinished_file file(name, format.is_folder);
  if (file.failed()) {
    log::error("{}: cannot be written: {}", name, *file.error());
    return failure;
  }
  const auto sink = format.make(file, how_to);
  const auto expected = suppressions_by_environment();
  bool all_told = true;
  const bool complete = each_trace(paths, [&](const std::string& path, trace::reader& reader) {
    run::load_options how;
    how.suppressions = expected;
    how.on_replayed = show_replays(path);
    const auto done = exporting::export_process(path, reader, *sink, wanted, how,
                                                show_progress(path), [&] { return file.failed(); });
    ++wanted.number;
    if (done.completeness.truncated) {
      log::warn("{}: the trace is cut off; exported is what is left of it, {} events", path,
                text::format_count(done.completeness.events));
    }
    auto sentences = sentences_of(done.completeness);
    if (done.problem) sentences.push_back(*done.problem);
    all_told = all_told && !done.problem;
    return sentences;
  });
  if (wanted.number == 0 || !all_told) return failure;
  const auto problem = sink->finish();
  if (problem || !file.finish()) {
    log::error("{}: cannot be written: {}", name, problem ? *problem : *file.error());
    return failure;
  }
  std::error_code failed;
  const auto bytes = format.is_folder ? 0 : fs::file_size(name, failed);
  const auto size =
      format.is_folder ? std::string() : fmt::format(" ({})", text::format_bytes(bytes));
  log::note("wrote {}{}, open it with {}", name, size, format.open_with);
  return complete ? success : failure;
}

int export_all(const export_options& options) {
  const auto* const format = exporting::format_named(options.format);
  if (format == nullptr) {
    log::error("--format {}: choose one of {}", options.format, exporting::format_names());
    return usage;
  }
  exporting::chosen wanted;
  if (!take_moment("--at", options.at, true, wanted.at) ||
      !take_moment("--from", options.from, false, wanted.from) ||
      !take_moment("--to", options.to, false, wanted.to)) {
    return usage;
  }
  if (options.output == "-") {
    log::error("-o -: an export is a file; give it a name");
    return usage;
  }
  auto paths = find_newest(options.traces);
  if (!paths) return failure;
  if (options.rank) paths = of_rank(std::move(*paths), *options.rank);
  if (paths->empty()) return failure;
  if (paths->size() > 1 && !format->several) {
    log::error("{} has room for one process, and these are {}: name one trace, or --rank N",
               format->name, paths->size());
    return failure;
  }
  if (!options.scrub) return write(*paths, options, *format, wanted);
  const temporary_folder folder;
  if (folder.path().empty()) {
    log::error("no folder for the privacy copies can be made: set TMPDIR to one that is writable");
    return failure;
  }
  const auto copies = make_scrubbed_copies(*paths, folder.path());
  return copies ? write(copies->paths, options, *format, wanted) : failure;
}

[[nodiscard]] std::string formats_help() {
  std::string text = "Formats:\n";
  for (const auto& row : exporting::formats()) {
    text += help::entry(std::string(row.name), std::string(row.what));
  }
  return text;
}

}  // namespace

action add_export(CLI::App& app) {
  const auto chosen = std::make_shared<export_options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories: the newest run of each")
      ->required();
  std::vector<std::string> formats;
  for (const auto& row : exporting::formats()) formats.emplace_back(row.name);
  app.add_option("--format", chosen->format, "What to write")
      ->type_name("FORMAT")
      ->check(help::known_values(formats))
      ->required();
  app.add_option("-o,--output", chosen->output,
                 "The file; without it memtrace-FORMAT-TRACE in the working directory")
      ->type_name("FILE");
  app.add_flag("--force", chosen->force, "Replace the file if it is there already");
  app.add_option("--at", chosen->at,
                 "The moment to show beside the peak: event:N, step:N or step:N/PHASE, from 0")
      ->type_name("MOMENT");
  app.add_option("--from", chosen->from, "Leave out what is before: event:N or step:N")
      ->type_name("MOMENT");
  app.add_option("--to", chosen->to, "Leave out what is after: event:N or step:N")
      ->type_name("MOMENT");
  app.add_option("--rank", chosen->rank, "Only this rank of a run with several")->type_name("N");
  app.add_option(
         "--top", chosen->top,
         "How many of the largest to show one by one; of a snapshot, how many of its last events "
         "to keep")
      ->type_name("N");
  app.add_flag("--scrub", chosen->scrub,
               "Hide what memtrace scrub hides: the export of such copies");
  app.footer(formats_help());
  return [chosen](const program&) { return export_all(*chosen); };
}

}  // namespace memtrace::cli
