// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/frames.h"

#include "tests/unit/catch.h"

using namespace memtrace;

TEST_CASE("GIVEN files WHEN asked whose they are THEN libraries are told from the user's code") {
  for (const auto* mine :
       {"/srv/ada/train.py", "train.py", "src/model.py", "<stdin>", "<string>",
        "<ipython-input-3-abc>", "/srv/python/train.py", "/srv/lib/train.py",
        "/srv/python3.11/train.py", "/opt/pytorch/train.py", "/srv/4f/c4flxli.py",
        "/srv/5f/c4flxli5a6sl7ejf32sgbeuqbopjekkttqcijkpnmafbf22l4syp.py"}) {
    CAPTURE(mine);
    CHECK(code::is_user_code(mine));
  }
  for (const auto* library :
       {"/venv/lib/python3.11/site-packages/torch/nn/functional.py",
        "/usr/lib/python3/dist-packages/numpy/core.py", "/usr/lib/python3.11/threading.py",
        "/opt/python/3.13/lib/python3.13t/runpy.py", "/usr/lib64/python3.9/runpy.py",
        "/opt/lib/python311.zip/runpy.py", "<frozen importlib._bootstrap>", "<eval_with_key>.3",
        "/tmp/torchinductor_ada/ab/cabc.py",
        "/srv/cache/4f/c4flxli5a6sl7ejf32sgbeuqbopjekkttqcijkpnmafbf22l4syp.py", ""}) {
    CAPTURE(library);
    CHECK_FALSE(code::is_user_code(library));
  }
}
