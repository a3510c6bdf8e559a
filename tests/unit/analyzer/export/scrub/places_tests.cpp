// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/places.h"
#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/trace/code/frames.h"
#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

// Paths as programs have them; each with words that must not be left of it.
struct example {
  std::string_view path;
  std::string_view secret;
  std::string_view kept;
};
constexpr example examples[] = {
    {"/home"
     "/ada/secret/train.py",
     "secret", "/train.py"},
    {"/home"
     "/ada/secret/src/model.py",
     "secret", "/model.py"},
    {"secret/model.py", "secret", "/model.py"},
    {"./secret/model.py", "secret", "/model.py"},
    {"/tmp/ipykernel_77/123.py", "ipykernel", "/123.py"},
    {"/home"
     "/ada/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py",
     "ada", "/lib/python3.11/site-packages/torch/nn/modules/linear.py"},
    {"/home"
     "/ada/.local/lib/python3.13t/site-packages/peft/tuners/lora.py",
     "ada", "/lib/python3.13t/site-packages/peft/tuners/lora.py"},
    {"/usr/lib/python3/dist-packages/numpy/core.py", "usr",
     "/lib/python3/dist-packages/numpy/core.py"},
    {"/opt/secret/lib64/python3.9/copy.py", "secret", "/lib64/python3.9/copy.py"},
    {"/opt/secret/python311.zip/copy.py", "secret", "/python311.zip/copy.py"},
    {"/home"
     "/ada/pytorch/torch/optim/adam.py",
     "pytorch", "/torch/optim/adam.py"},
    {"/tmp/torchinductor_ada/xy/cxyz.py", "ada", "/xy/cxyz.py"},
    {"/home"
     "/ada/lib/libsecret.so",
     "ada", "/libsecret.so"},
};

[[nodiscard]] scrub::places all_examples() {
  scrub::places known;
  for (const auto& one : examples) known.add(one.path);
  known.settle();
  return known;
}

}  // namespace

TEST_CASE("of a path only the file, or the way to it inside an installation, is left") {
  const auto known = all_examples();
  for (const auto& one : examples) {
    const auto made = known.replaced(one.path);
    CAPTURE(one.path, made);
    CHECK(made.find(one.secret) == std::string::npos);
    CHECK(made.ends_with(one.kept));
    CHECK(made.starts_with('/') == one.path.starts_with('/'));
  }
}

TEST_CASE("a report takes a file for what it took it for before") {
  const auto known = all_examples();
  for (const auto& one : examples) {
    const auto made = known.replaced(one.path);
    CAPTURE(one.path, made);
    CHECK(code::is_user_code(made) == code::is_user_code(one.path));
    CHECK(code::is_model_library(made) == code::is_model_library(one.path));
    for (const auto* const function : {"_init_group", "_call_impl", "_reconstruct", "fit"}) {
      CHECK(attribution::marks_of_frame(made, function) ==
            attribution::marks_of_frame(one.path, function));
    }
  }
}

TEST_CASE("directories stay apart, in their order") {
  scrub::places known;
  const std::vector<std::string> paths = {"/c/x.py", "/a/x.py", "/a/b/x.py", "/a/y.py", "/b/x.py"};
  for (const auto& path : paths) known.add(path);
  known.settle();
  CHECK(known.count() == 4);
  CHECK(known.replaced("/a/x.py") == "/code1/x.py");
  CHECK(known.replaced("/a/y.py") == "/code1/y.py");
  CHECK(known.replaced("/a/b/x.py") == "/code2/x.py");
  CHECK(known.replaced("/b/x.py") == "/code3/x.py");
  CHECK(known.replaced("/c/x.py") == "/code4/x.py");
  // With ten, the numbers have two digits, so that they still sort.
  for (char name = 'd'; name < 'k'; ++name) known.add(std::string("/") + name + "/x.py");
  known.settle();
  CHECK(known.replaced("/a/x.py") == "/code01/x.py");
}

TEST_CASE("code without a file, and a file without a directory, stay") {
  scrub::places known;
  for (const auto* const path : {"", "<string>", "<frozen importlib._bootstrap>", "train.py"}) {
    known.add(path);
    known.settle();
    CHECK(known.replaced(path) == path);
  }
  CHECK(known.count() == 0);
}
