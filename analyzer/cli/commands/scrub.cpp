// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/scrub.h"

#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <CLI/App.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/output_file.h"
#include "analyzer/judge/verdicts/told_proofs.h"
#include "analyzer/run/model/load.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

class file_output final : public trace::output {
 public:
  explicit file_output(output_file& file) : file_(file) {}
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const unsigned char> bytes) override {
    return file_.write_at(offset, bytes);
  }

 private:
  output_file& file_;
};

// Who recorded it: the account's name may stand in any text.
[[nodiscard]] std::string owner_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  const auto* const account = ::getpwuid(facts.st_uid);
  return account == nullptr ? std::string() : account->pw_name;
}

// What a report says of the program, by its text, which the copy lacks.
[[nodiscard]] std::vector<std::string> proofs_in(trace::byte_source& source,
                                                 const std::string& path) {
  std::vector<std::string> all;
  auto reader = trace::reader::open(source);
  if (!reader) return all;
  const auto report = run::load(path, *reader, {.advice = false});
  if (!reader->names().proofs().empty()) return all;  // a copy of a copy has them already
  for (const auto& one : verdicts::proofs_of(reader->names(), report.findings)) {
    all.push_back(verdicts::written(reader->names(), one));
  }
  return all;
}

// The copy's path; empty, after one sentence on stderr: it cannot be made.
[[nodiscard]] std::string copy_one(scrub::scrubber& scrubs, std::size_t number,
                                   const std::string& path, const fs::path& folder) {
  auto source = trace::file_source::open(path);
  if (!source) {
    complain(path, source.failure());
    return {};
  }
  const auto target = (folder / scrubs.file_name(fs::path(path).filename().string())).string();
  output_file file(target, output_file::mode::create);
  if (!file.is_open()) {
    log::error("{}: cannot be made: {}", target, file.error());
    return {};
  }
  file_output to(file);
  if (const auto failure = scrubs.copy(number, *source, to, proofs_in(*source, path))) {
    complain(path, *failure);
    file.remove();
    return {};
  }
  return target;
}

int scrub_all(const std::vector<std::string>& names, const std::string& output) {
  const auto found = find(names);
  if (!found) return failure;
  const auto copies = make_scrubbed_copies(*found, output);
  if (!copies) return failure;
  for (const auto& path : copies->paths) log::note("wrote {}", path);
  log::note(
      "hidden: {} directories, {} names of users and machines, command lines and "
      "values of the environment. Names of files, functions, modules and of what the "
      "program itself named are still there: look with memtrace dump before you share.",
      copies->directories, copies->names);
  return success;
}

}  // namespace

std::optional<scrubbed_copies> make_scrubbed_copies(const std::vector<std::string>& traces,
                                                    const std::string& folder) {
  scrub::scrubber scrubs;
  for (const auto& path : traces) {
    auto source = trace::file_source::open(path);
    const auto failed =
        source ? scrubs.look_at(*source, owner_of(path)) : trace::status(source.failure());
    if (!failed) continue;
    complain(path, *failed);
    return std::nullopt;
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    log::error("{}: no directory for the copies: {}", folder, failed.message());
    return std::nullopt;
  }
  scrubbed_copies made;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    made.paths.push_back(copy_one(scrubs, i, traces[i], folder));
    if (made.paths.back().empty()) return std::nullopt;
  }
  made.directories = scrubs.hidden().directories();
  made.names = scrubs.hidden().names();
  return made;
}

action add_scrub(CLI::App& app) {
  struct options {
    std::vector<std::string> traces;
    std::string output = "scrubbed";
  };
  const auto chosen = std::make_shared<options>();
  app.add_option("TRACE", chosen->traces,
                 "Traces, or directories with traces; those of one run together, so that the same "
                 "machine keeps the same name in all")
      ->required();
  app.add_option("-o,--output", chosen->output, "Directory for the copies")
      ->type_name("DIR")
      ->capture_default_str();
  return [chosen](const program&) { return scrub_all(chosen->traces, chosen->output); };
}

}  // namespace memtrace::cli
