// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <fmt/core.h>

#include <sstream>
#include <utility>

#include "simulator/program/child_output.h"

namespace memtrace::cli::surroundings {

namespace {

// One line a fact. torch/version.py is a few assignments; importing torch takes seconds.
constexpr char question[] = R"(
import importlib.util, os, runpy, sys, sysconfig
print(sys.implementation.name, *sys.version_info[:3], sysconfig.get_config_var("Py_GIL_DISABLED") or 0)
found = importlib.util.find_spec("torch")
if found and found.origin:
    facts = runpy.run_path(os.path.join(os.path.dirname(found.origin), "version.py"))
    print(facts["__version__"], facts.get("cuda") or "none")
)";

// CPython's come from interpose/sight/python/layout.h, PyTorch's from
// tests/trace/versions/RESULTS.md.
constexpr int first_minor = 9;
constexpr int last_minor = 15;
constexpr std::pair first_torch{2, 6};
constexpr std::pair last_torch{2, 15};

[[nodiscard]] std::pair<int, int> version_in(const std::string& text) {
  std::pair<int, int> version{};
  char dot = 0;
  std::istringstream(text) >> version.first >> dot >> version.second;
  return version;
}

}  // namespace

std::optional<python_facts> ask_python(const std::filesystem::path& interpreter) {
  std::istringstream answer(simulator::child_output({interpreter.string(), "-c", question}));
  python_facts found;
  found.interpreter = interpreter;
  int patch = 0;
  if (!(answer >> found.implementation >> found.major >> found.minor >> patch >>
        found.has_no_gil)) {
    return std::nullopt;
  }
  found.version = fmt::format("{}.{}.{}", found.major, found.minor, patch);
  if (answer >> found.torch >> found.torch_cuda && found.torch_cuda == "none") {
    found.torch_cuda.clear();
  }
  return found;
}

finding judge_python(const python_facts& python) {
  const std::string what = fmt::format("{} at {}", python.version, python.interpreter.string());
  const auto without_stacks = [&](const std::string& why) {
    return finding{"Python", effect::lacks,
                   fmt::format("{}: without the lines of Python behind the memory: {}", what, why)};
  };
  if (python.implementation != "cpython") {
    return without_stacks(fmt::format("it is {}, not CPython", python.implementation));
  }
  if (python.has_no_gil) return without_stacks("it is built without the GIL");
  if (python.major != 3 || python.minor < first_minor || python.minor > last_minor) {
    return without_stacks(fmt::format("memtrace knows 3.{} to 3.{}", first_minor, last_minor));
  }
  return {"Python", effect::none, what};
}

finding judge_torch(const python_facts& python) {
  if (python.torch.empty()) {
    return {
        "PyTorch", effect::lacks,
        fmt::format("none in {}: CUDA calls alone are recorded; if the program has one, start it "
                    "with its own Python",
                    python.interpreter.string())};
  }
  if (python.torch_cuda.empty()) {
    return {"PyTorch", effect::nothing,
            fmt::format("{} is built without CUDA, so there is no GPU memory to record; install a "
                        "wheel with CUDA",
                        python.torch)};
  }
  const std::string what = fmt::format("{}, built with CUDA {}", python.torch, python.torch_cuda);
  const auto version = version_in(python.torch);
  if (version < first_torch || version > last_torch) {
    return {"PyTorch", effect::none,
            fmt::format("{}; tried are {}.{} to {}.{}: what memtrace does not find in it, it goes "
                        "without and says so",
                        what, first_torch.first, first_torch.second, last_torch.first,
                        last_torch.second)};
  }
  return {"PyTorch", effect::none, what};
}

}  // namespace memtrace::cli::surroundings
