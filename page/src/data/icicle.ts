// SPDX-License-Identifier: Apache-2.0
// Bytes of blocks as a tree: by call stack, outermost first, or by module. A block of a backward pass
// stands below the forward call whose gradient it was made for.
import type { History, Stacks } from "./history";

export interface TreeNode { name: string; detail: string; bytes: number; blocks: number; children: TreeNode[]; user: boolean }
export type TreeKind = "stack" | "own" | "inverted" | "module";

interface Growing extends TreeNode { inner: Map<string, Growing> }

function grown(name: string, detail: string, user: boolean): Growing {
  return { name, detail, bytes: 0, blocks: 0, children: [], user, inner: new Map() };
}

class Step { constructor(readonly key: string, readonly name: string, readonly detail: string, readonly user: boolean) {} }

function stepsOfStack(stacks: Stacks, node: number, cache: Map<number, Step[]>): Step[] {
  let made = cache.get(node);
  if (!made) {
    made = stacks.places(node).map((place) => {
      const where = `${place.file}:${place.line}`;
      return new Step(where + place.function, place.function, where, place.user);
    }).reverse();
    cache.set(node, made);
  }
  return made;
}

/** The user's own frames; of a stack without any its innermost. */
function ownOf(path: Step[]): Step[] {
  const own = path.filter((one) => one.user);
  return own.length > 0 ? own : path.slice(-1);
}

/** `weigh`: of each block its number of bytes, which may be negative in a difference. */
export function treeOf(history: History, blocks: ArrayLike<number>, weigh: (block: number) => number,
                       kind: TreeKind): TreeNode {
  const root = grown("all", "", false);
  const stack = history.block("stack");
  const forward = history.block("forward");
  const module = history.block("module");
  const cache = new Map<number, Step[]>();
  for (let i = 0; i < blocks.length; ++i) {
    const block = blocks[i]!;
    let path: Step[];
    if (kind === "module") {
      path = modulePath(history, module[block]!);
    } else {
      const steps = (node: number) => (kind === "own" ? ownOf(stepsOfStack(history.stacks, node, cache)) : stepsOfStack(history.stacks, node, cache));
      path = steps(stack[block]!);
      const of = forward[block]!;
      if (of !== 0) {
        path = [...steps(of),
                new Step("backward", "backward of this line", "", false), ...path];
      }
      if (kind === "inverted") path = [...path].reverse();
      if (path.length === 0) path = [new Step("none", "no Python frame was running", "", false)];
    }
    add(root, path, weigh(block));
  }
  return sorted(root);
}

function modulePath(history: History, row: number): Step[] {
  const path: Step[] = [];
  for (let here: number | null = row; here !== null && here !== 0;) {
    const module: History["facts"]["modules"][number] | undefined = history.facts.modules[here];
    if (!module) break;
    const own = module.path ? module.path.slice(module.path.lastIndexOf(".") + 1) : module.root ?? "";
    path.push(new Step(`${module.root}/${module.path}`, own, `${history.moduleName(here)} (${module.type ?? ""})`, true));
    here = module.parent;
  }
  if (path.length === 0) path.push(new Step("none", "in no module", "", false));
  return path.reverse();
}

function add(root: Growing, path: Step[], bytes: number): void {
  let here = root;
  here.bytes += bytes;
  ++here.blocks;
  for (const step of path) {
    let next = here.inner.get(step.key);
    if (!next) {
      next = grown(step.name, step.detail, step.user);
      here.inner.set(step.key, next);
    }
    next.bytes += bytes;
    ++next.blocks;
    here = next;
  }
}

function sorted(node: Growing): TreeNode {
  node.children = [...node.inner.values()].map(sorted).sort((one, other) => other.bytes - one.bytes);
  node.inner.clear();
  return node;
}

export function matches(node: TreeNode, wanted: string): boolean {
  return wanted !== "" && `${node.name} ${node.detail}`.toLowerCase().includes(wanted);
}

/** Bytes below the outermost nodes that match. */
export function matched(node: TreeNode, wanted: string): number {
  if (matches(node, wanted)) return node.bytes;
  return node.children.reduce((sum, child) => sum + matched(child, wanted), 0);
}
