// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/dump.h"

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"

namespace memtrace::cli {

namespace {

int dump(const std::string& path, exporting::dump_options options) {
  auto opened = open(path);
  if (!opened) return failure;
  exporting::dump_writer writer(opened->reader->names(), stdout, options);
  opened->reader->read_as_recorded();
  const auto facts = opened->reader->read(writer, {});
  writer.finish();
  if (std::fflush(stdout) != 0 || writer.failed()) {
    // Whoever reads the lines may stop when he has enough.
    if (errno != EPIPE) log::error("standard output: {}", std::strerror(errno));
    return failure;
  }
  if (facts.damage) {
    complain(path, *facts.damage);
    return failure;
  }
  return success;
}

}  // namespace

action add_dump(CLI::App& app) {
  struct options {
    std::string path;
    bool no_stacks = false;
  };
  const auto chosen = std::make_shared<options>();
  app.add_option("TRACE", chosen->path, "The trace")->required();
  app.add_flag("--no-stacks", chosen->no_stacks, "Leave the call stacks out");
  return [chosen](const program&) { return dump(chosen->path, {!chosen->no_stacks}); };
}

}  // namespace memtrace::cli
