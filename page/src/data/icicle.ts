// SPDX-License-Identifier: Apache-2.0
// Bytes of blocks as a tree: by call stack, outermost first, or by module. A block of a backward pass
// stands below the forward call whose gradient it was made for.
import type { History, Stacks } from "./history";
import { isPlumbing } from "./plumbing";

export interface TreeNode {
  name: string; detail: string; bytes: number; blocks: number; children: TreeNode[]; user: boolean;
  /** Bytes of the blocks that end here, and are in no child. */
  own: number;
  /** Bytes by the number of a category. */
  categories: Float64Array;
}
export type TreeKind = "stack" | "own" | "inverted" | "module";

interface Growing extends TreeNode { inner: Map<string, Growing>; members: Set<number> | null; alone: Named | null }

interface Named { name: string; detail: string }
/** `member`: the number of one of several modules that share a box, and its words where it is the only one that has memory. */
interface Step extends Named { key: string; user: boolean; member?: number; alone?: Named }

function grown(step: Step, categories: number): Growing {
  return { name: step.name, detail: step.detail, bytes: 0, blocks: 0, children: [], user: step.user, own: 0,
           categories: new Float64Array(categories), inner: new Map(),
           members: step.member === undefined ? null : new Set(), alone: step.alone ?? null };
}

/** Frames of a stack, the outermost first; one that is nothing but plumbing keeps its innermost. */
function stepsOfStack(stacks: Stacks, node: number, isAll: boolean): Step[] {
  const places = stacks.places(node);
  const kept = isAll ? places : places.filter((one) => !isPlumbing(one));
  return (kept.length > 0 ? kept : places.slice(0, 1)).map((place) => {
    const where = `${place.file}:${place.line}`;
    return { key: where + place.function, name: place.function, detail: where, user: place.user };
  }).reverse();
}

/** The user's own frames; of a stack without any its innermost. */
function ownOf(path: Step[]): Step[] {
  const own = path.filter((one) => one.user);
  return own.length > 0 ? own : path.slice(-1);
}

/** The path of each block in a tree of calls. */
function stackPaths(history: History, kind: TreeKind, isAll: boolean): (block: number) => Step[] {
  const stack = history.block("stack");
  const forward = history.block("forward");
  const known = new Map<number, Step[]>();
  const steps = (node: number) => {
    let made = known.get(node);
    if (!made) {
      made = stepsOfStack(history.stacks, node, isAll);
      if (kind === "own") made = ownOf(made);
      known.set(node, made);
    }
    return made;
  };
  return (block) => {
    let path = steps(stack[block]!);
    const of = forward[block]!;
    if (of !== 0) {
      path = [...steps(of), { key: "backward", name: "backward of this line", detail: "", user: false }, ...path];
    }
    if (kind === "inverted") path = [...path].reverse();
    return path.length > 0 ? path : [{ key: "none", name: "no Python frame was running", detail: "", user: false }];
  };
}

/** The path of each block in the tree of modules; members of a list that are of one class are one step, unless `isAll`. */
function modulePaths(history: History, isAll: boolean): (block: number) => Step[] {
  const { modules } = history.facts;
  const module = history.block("module");
  const nameOf = (row: number) => {
    const { path, root } = modules[row]!;
    return path ? path.slice(path.lastIndexOf(".") + 1) : root ?? "";
  };
  const kindOf = (row: number) => `${modules[row]!.parent} ${modules[row]!.type}`;
  const isIndex = (row: number) => Boolean(modules[row]!.parent) && /^\d+$/.test(nameOf(row));
  const alike = new Map<string, number>();
  modules.forEach((_one, row) => { if (isIndex(row)) alike.set(kindOf(row), (alike.get(kindOf(row)) ?? 0) + 1); });
  const known = new Map<number, { steps: Step[]; path: string }>();
  const pathOf = (row: number): { steps: Step[]; path: string } => {
    if (!modules[row] || row === 0) return { steps: [], path: "" };
    let made = known.get(row);
    if (!made) {
      const { parent, type } = modules[row]!;
      const above = pathOf(parent ?? 0);
      const own = nameOf(row);
      const isMember = !isAll && isIndex(row) && alike.get(kindOf(row))! > 1;
      const within = (name: string) => (above.path === "" ? history.moduleName(row) : `${above.path}.${name}`);
      const path = within(isMember ? "*" : own);
      const about = (where: string) => `${where} (${type ?? ""})`;
      const step: Step = isMember
        ? { key: `* ${type}`, name: `${above.path.slice(above.path.lastIndexOf(".") + 1)}.*`, detail: about(path), user: true,
            member: row, alone: { name: own, detail: about(within(own)) } }
        : { key: above.path === "" ? path : own, name: own, detail: about(path), user: true };
      made = { steps: [...above.steps, step], path };
      known.set(row, made);
    }
    return made;
  };
  return (block) => {
    const { steps } = pathOf(module[block]!);
    return steps.length > 0 ? steps : [{ key: "none", name: "in no module", detail: "", user: false }];
  };
}

/** `weigh`: of each block its number of bytes, which may be negative in a difference; `isAll`: also plumbing, and each
    member of a list of modules apart. */
export function treeOf(history: History, blocks: ArrayLike<number>, weigh: (block: number) => number,
                       kind: TreeKind, isAll = false): TreeNode {
  const category = history.block("category");
  const kinds = history.page.categories?.length ?? 0;
  const root = grown({ key: "", name: "all", detail: "", user: false }, kinds);
  const pathOf = kind === "module" ? modulePaths(history, isAll) : stackPaths(history, kind, isAll);
  for (let i = 0; i < blocks.length; ++i) add(root, pathOf(blocks[i]!), weigh(blocks[i]!), category[blocks[i]!]);
  return sorted(root);
}

function add(root: Growing, path: Step[], bytes: number, category: number | undefined): void {
  let here = root;
  const count = () => {
    here.bytes += bytes;
    ++here.blocks;
    if (category !== undefined) here.categories[category]! += bytes;
  };
  count();
  for (const step of path) {
    let next = here.inner.get(step.key);
    if (!next) {
      next = grown(step, root.categories.length);
      here.inner.set(step.key, next);
    }
    here = next;
    if (step.member !== undefined) here.members!.add(step.member);
    count();
  }
  here.own += bytes;
}

function sorted(node: Growing): TreeNode {
  if (node.members) {
    if (node.members.size > 1) node.name = `${node.name} ×${node.members.size}`;
    else Object.assign(node, node.alone);
  }
  node.children = [...node.inner.values()].map(sorted).sort((one, other) => other.bytes - one.bytes);
  node.inner.clear();
  return node;
}

/** A difference in two trees of positive bytes: what grew, and what shrank. Blocks that came where as many went are in neither. */
export function bySign(tree: TreeNode): { grew: TreeNode; shrank: TreeNode } {
  const part = (node: TreeNode, sign: 1 | -1): TreeNode => {
    const children = node.children.map((child) => part(child, sign)).filter((child) => child.bytes > 0)
      .sort((one, other) => other.bytes - one.bytes);
    const own = Math.max(0, sign * node.own);
    return { ...node, own, children, bytes: children.reduce((sum, child) => sum + child.bytes, own) };
  };
  return { grew: part(tree, 1), shrank: part(tree, -1) };
}

export function matches(node: TreeNode, wanted: string): boolean {
  return wanted !== "" && `${node.name} ${node.detail}`.toLowerCase().includes(wanted);
}

/** Bytes below the outermost nodes that match. */
export function matched(node: TreeNode, wanted: string): number {
  if (matches(node, wanted)) return node.bytes;
  return node.children.reduce((sum, child) => sum + matched(child, wanted), 0);
}
