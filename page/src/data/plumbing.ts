// SPDX-License-Identifier: Apache-2.0
// Frames that only pass a call on. Between two lines of a model PyTorch has two or three of them, and an icicle
// of all frames is mostly these.
import type { Place } from "./history";

// torch.nn.Module calls forward() through these, and goes through its submodules with _apply() for to(), half() and so on.
const OF_MODULE = new Set(["_wrapped_call_impl", "_call_impl", "inner", "_slow_forward", "_apply", "<lambda>"]);
// What a decorator of PyTorch puts around a function: torch.no_grad(), a profiled optimizer step, an autocast region.
const DECORATED = /^(_?wrapper|_?wrapped|_fn|inner|_use_grad|maybe_fallback|decorate_\w+|\w+_wrapper)$/;

/** The path inside of the package torch; empty: not a file of PyTorch's. */
export function insideTorch(file: string): string {
  const inPackages = /^.*(?:site|dist)-packages\/(.*)$/.exec(file);
  const found = inPackages ? /^torch\/(.*)$/.exec(inPackages[1]!) : /(?:^|\/)torch\/(.*)$/.exec(file);
  return found ? found[1]! : "";
}

/** Whether a frame is the machinery of a module's call or a decorator of PyTorch's; never one of the user's own. */
export function isPlumbing({ file, function: name, user }: Place): boolean {
  if (user) return false;
  const path = insideTorch(file);
  if (path === "nn/modules/module.py") return OF_MODULE.has(name);
  return path === "utils/_contextlib.py" || (path !== "" && DECORATED.test(name));
}
