// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/open_phases.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/ground/session/session.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::phase_source;

// In place of the library's.
constinit std::atomic<recorder*> session::detail::the_recorder{nullptr};

namespace {

class recording {
 public:
  recording() : recorder_(make_recorder(folder_)) {
    session::detail::the_recorder = recorder_.get();
    open_phases::record_earlier(*recorder_);
  }
  ~recording() { session::detail::the_recorder = nullptr; }

  // "+name" for each begin, "-name" for each end, and the source where it is NVTX.
  std::vector<std::string> told() {
    recorder_->finish();
    const decoded_trace trace = decode_trace(recorder_->path());
    REQUIRE(trace.error.empty());
    const auto texts = trace.of(format::kind::text);
    std::vector<std::string> found;
    for (const auto& phase : trace.of(format::kind::phase)) {
      const auto name = phase.values.at(3);
      found.push_back((phase.values.at(0) == 0 ? "+" : "-") +
                      (name == 0 ? std::string() : texts.at(name - 1).texts.at(0)) +
                      (phase.values.at(1) == 2 ? " nvtx" : ""));
    }
    return found;
  }

 private:
  temporary_folder folder_;
  std::unique_ptr<recorder> recorder_;
};

void begin(const char* name, phase_source source = phase_source::user) {
  open_phases::begin(source, names::intern(name));
}
void end(phase_source source = phase_source::user) {
  open_phases::end(source);
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("what is open when a recording begins is told then") {
  begin("over");
  end();
  begin("outer");
  begin("range", phase_source::nvtx);
  recording run;
  begin("inner");
  end();
  end(phase_source::nvtx);
  end();
  CHECK(run.told() ==
        strings{"+outer", "+range nvtx", "+inner", "-inner", "-range nvtx", "-outer"});
}

TEST_CASE("the two sources nest apart") {
  recording run;
  begin("phase");
  begin("range", phase_source::nvtx);
  end();
  end(phase_source::nvtx);
  CHECK(run.told() == strings{"+phase", "+range nvtx", "-phase", "-range nvtx"});
}

TEST_CASE("an end without a beginning is not told") {
  recording run;
  end();
  begin("one");
  end();
  end();
  CHECK(run.told() == strings{"+one", "-one"});
}

TEST_CASE("a phase of another thread, open since before, is told with that thread's next one") {
  std::vector<std::string> told;
  std::thread([&told] {
    begin("unheard");
    std::thread([&told] {
      recording run;
      told = run.told();
    }).join();
    end();
    begin("open");
    recording* run = nullptr;
    std::thread([&run] { run = new recording; }).join();
    begin("next");
    end();
    end();
    told = run->told();
    delete run;
  }).join();
  CHECK(told == strings{"+open", "+next", "-next", "-open"});
}

TEST_CASE("a second recording, as of a forked child, has the open phases again") {
  begin("outer");
  {
    recording run;
    begin("inner");
    CHECK(run.told() == strings{"+outer", "+inner"});
  }
  recording run;
  end();
  end();
  CHECK(run.told() == strings{"+outer", "+inner", "-inner", "-outer"});
}

TEST_CASE("deeper phases than are kept are left out, with their ends") {
  constexpr unsigned deep = open_phases::max_depth + 3;
  recording run;
  for (unsigned i = 0; i < deep; ++i) begin("level");
  for (unsigned i = 0; i < deep; ++i) end();
  const strings told = run.told();
  REQUIRE(told.size() == 2 * open_phases::max_depth);
  CHECK(told[open_phases::max_depth - 1] == "+level");
  CHECK(told[open_phases::max_depth] == "-level");
}
