// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/load.h"

#include "analyzer/replay/replay.h"

namespace memtrace::report {

process_report load(const std::string& path, trace::reader& reader,
                    const std::function<void(const trace::progress&)>& on_progress) {
  replay::replayer replayed(reader.names());
  const auto completeness = reader.read(replayed, on_progress);
  replayed.finish();
  return build_process(path, reader, completeness, replayed);
}

}  // namespace memtrace::report
