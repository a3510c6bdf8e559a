# SPDX-License-Identifier: Apache-2.0
"""Says a Python program in other words, and moves a question about it along: names, lines, order.

What is changed is the program's own: names that Python or a library has keep their meaning, so that the program would
run as before. A name that might be a library's, too, is left alone.
"""

import ast
import builtins
import collections
import io
import queue
import re
import threading
import tokenize
from dataclasses import dataclass, field

# Names that PyTorch's classes have, or call: an attribute of such a name may be theirs.
TORCH = set("""
    forward backward step zero_grad weight bias grad data training device dtype shape size state param_groups defaults
    parameters named_parameters modules named_modules children buffers state_dict load_state_dict train eval to cuda cpu
    detach clone item numel dim mean sum std norm requires_grad is_leaf grad_fn saved_tensors save_for_backward
    setup_context apply in_features out_features num_embeddings embedding_dim dataset batch_size sampler collate_fn
    hidden_size num_layers run closure values indices device_type lr sample log_prob step_size weight_hh weight_ih max
    min view reshape flatten squeeze unsqueeze index add mul div pow exp log softmax relu gelu loss logits""".split())
LIBRARY = TORCH | {name for one in (list, dict, set, str, tuple, int, float, bytes, object, io.BytesIO, re, threading.Thread,
                                    threading.Lock, threading.Event, queue.Queue, collections.deque,
                                    collections.Counter, collections.OrderedDict, collections.defaultdict)
                   for name in dir(one)}


@dataclass
class Said:
    """A program in other words: old lines and new ones, and what was renamed."""
    source: str
    question: dict


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def first_line(function) -> int:
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def moved(old: ast.AST, source: str, question: dict) -> Said:
    """With the question's lines where the nodes of `old` now are; `source` is the text of the same tree."""
    new = ast.parse(source)
    pairs = list(zip(ast.walk(old), ast.walk(new), strict=True))
    assert all(type(one) is type(other) for one, other in pairs)
    statements, others, owners = {}, {}, {}
    for one, other in pairs:
        if not getattr(one, "lineno", 0):
            continue
        if isinstance(one, ast.stmt):
            # The last that begins in a line: `for x in y: use(x)` is running what is in the loop.
            if other.lineno >= statements.get(one.lineno, 0):
                statements[one.lineno] = other.lineno
        else:
            others.setdefault(one.lineno, other.lineno)
        if isinstance(one, FUNCTIONS):
            for line in range(first_line(one), one.lineno + 1):
                owners[line] = first_line(other)
    lines = {**others, **statements}
    return Said(source, {**question, "owner_line": owners.get(question["owner_line"], 0),
                         "running": [lines[line] for line in question["running"]]})


def printed_anew(source: str, question: dict) -> Said:
    tree = ast.parse(source)
    return moved(tree, ast.unparse(tree), question)


# Names

def given_in_body(of_class: ast.ClassDef) -> set:
    """Names that a class has in its body: `calls, stash = count(), {}`."""
    targets = [target for one in of_class.body
               for target in [getattr(one, "target", None), *getattr(one, "targets", [])] if target is not None]
    return {name.id for target in targets for name in ast.walk(target)
            if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load)}


class Own(ast.NodeVisitor):
    """Which names are the program's own: as variables, functions and classes, and as attributes."""

    def __init__(self, tree):
        self.names, self.attributes, self.imported, self.strings = set(), set(), set(), set()
        self.used = collections.Counter()
        self.methods, self.methods_of_libraries = set(), set()
        self.classes = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)}
        self.visit(tree)
        unused = {name for name in self.methods_of_libraries if not self.used[name]}
        left_alone = self.imported | self.strings | set(dir(builtins)) | {"_"}
        self.names = {name for name in self.names - left_alone if not name.startswith("__")}
        self.attributes = {name for name in self.attributes - left_alone - LIBRARY - unused
                           if not name.startswith("__")}

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Attribute(self, node):
        if isinstance(node.ctx, ast.Load):
            self.used[node.attr] += 1
        else:
            self.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_arg(self, node):
        self.names.add(node.arg)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        self.strings.add(node.name)
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        if node not in self.methods:
            self.names.add(node.name)
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.names.add(node.name)
        own = all(isinstance(base, ast.Name) and base.id in {*self.classes, "object"} for base in node.bases)
        for one in node.body:
            if isinstance(one, FUNCTIONS):
                self.methods.add(one)
                self.attributes.add(one.name)
                if not own:
                    self.methods_of_libraries.add(one.name)
        self.attributes |= given_in_body(node)
        self.generic_visit(node)

    def visit_alias(self, node):
        self.imported |= {(node.asname or node.name).split(".")[0], node.name.split(".")[-1]}

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.strings.add(node.value.strip("-").replace("-", "_"))  # getattr(self, "items"), "--batch-size"


class Renamed(ast.NodeTransformer):
    def __init__(self, names: dict, attributes: dict):
        self.names, self.attributes, self.inside = names, attributes, []

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = self.attributes.get(node.attr, node.attr)
        return node

    def visit_arg(self, node):
        self.generic_visit(node)
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_ExceptHandler(self, node):
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node

    def visit_Global(self, node):
        node.names = [self.names.get(name, name) for name in node.names]
        return node

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node):
        is_method = bool(self.inside) and isinstance(self.inside[-1], ast.ClassDef)
        self.inside.append(node)
        self.generic_visit(node)
        self.inside.pop()
        known = self.attributes if is_method else self.names
        node.name = known.get(node.name, node.name)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.inside.append(node)
        self.generic_visit(node)
        self.inside.pop()
        node.name = self.names.get(node.name, node.name)
        return node

    def visit_Call(self, node):
        called = node.func
        is_own = isinstance(called, ast.Name) and called.id in self.names
        is_own = is_own or isinstance(called, ast.Attribute) and called.attr in self.attributes
        if isinstance(called, ast.Name) and called.id == "partial" and node.args:
            is_own = isinstance(node.args[0], ast.Name) and node.args[0].id in self.names
        if is_own:
            for one in node.keywords:
                one.arg = self.names.get(one.arg, one.arg)
        self.generic_visit(node)
        return node


def keyword_arguments(tree) -> set:
    return {one.arg for one in ast.walk(tree) if isinstance(one, ast.keyword) and one.arg}


def renamed(source: str, question: dict) -> Said:
    tree = ast.parse(source)
    own = Own(tree)
    names, attributes = set(own.names), set(own.attributes)
    # What a class has in its body is a variable there, and an attribute elsewhere. A number that a heap scan saw may be
    # either's.
    numbers = set(re.findall(r"(\w+)=", question["numbers"]))
    of_classes = set().union(*(given_in_body(one) for one in own.classes.values()))
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    # Fields of a class without an __init__ are its keyword arguments.
    either = of_classes | (numbers & used & ({*own.used} | own.attributes))
    apart = {name for name in either if (name in names) != (name in attributes)}
    names, attributes = names - apart, attributes - apart
    new = {name: f"{'W' if name[0].isupper() else 'w'}{number}x"
           for number, name in enumerate(sorted(names | attributes))}
    of_names, of_attributes = {name: new[name] for name in names}, {name: new[name] for name in attributes}
    Renamed(of_names, of_attributes).visit(tree)
    said = moved(tree, ast.unparse(tree), question)

    def path(text: str) -> str:
        made = re.split(r"(\[[^\]]*\])", text)
        parts = made[0].split(".")
        first, *rest = parts
        made[0] = ".".join([of_names.get(first, first), *(of_attributes.get(one, one) for one in rest)])
        for at in range(2, len(made), 2):
            made[at] = re.sub(r"\w+", lambda word: of_attributes.get(word[0], word[0]), made[at])
        return "".join(made)

    owner = question["owner"]
    for one in ast.walk(ast.parse(said.source)):
        if isinstance(one, FUNCTIONS) and first_line(one) == said.question["owner_line"]:
            owner = re.sub(r"^((?:local|closure|default) of) .*", rf"\1 {one.name}", owner)
    said.question.update(variable=path(question["variable"]), holder=of_names.get(question["holder"], question["holder"]),
                         owner=owner,
                         numbers=re.sub(r"\w+(?==)", lambda word: new.get(word[0], word[0]), question["numbers"]))
    return said


# Layout

def without_docstrings(tree):
    for one in ast.walk(tree):
        body = getattr(one, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and \
                isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            if len(body) == 1:
                body[0] = ast.copy_location(ast.Pass(), body[0])
            else:
                del body[0]
    return tree


def docstrings(tree) -> list:
    return [(one.body[0], len(one.body) == 1) for one in ast.walk(tree)
            if isinstance(getattr(one, "body", None), list) and one.body and isinstance(one.body[0], ast.Expr)
            and isinstance(one.body[0].value, ast.Constant) and isinstance(one.body[0].value.value, str)]


def swapped(text: str) -> str:
    if text[0] not in "'\"" or text[:3] in ("'''", '"""') or "\\" in text:
        return text
    other = "'" if text[0] == '"' else '"'
    return text if other in text else other + text[1:-1] + other


def laid_out_anew(source: str, question: dict) -> Said:
    """Without comments and docstrings, the other quotes, each argument of a call in a line of its own."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits = []  # (begin, end, text)
    gone = {}
    for one, alone in docstrings(ast.parse(source)):
        gone[one.lineno, one.col_offset] = "pass" if alone else ""
    stack, before = [], None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.COMMENT:
            edits.append((begin, end, ""))
        elif token.type == tokenize.STRING:
            edits.append((begin, end, gone.get(token.start, swapped(token.string))))
        elif token.string in ("(", "[", "{") and token.type == tokenize.OP:
            calls = token.string == "(" and before is not None and \
                (before.type == tokenize.NAME and before.string not in KEYWORDS or before.string in (")", "]"))
            outermost = calls and not any(stack)
            stack.append(outermost)
            if outermost:
                edits.append((end, end, "\n        "))
        elif token.string in (")", "]", "}") and token.type == tokenize.OP:
            if stack.pop():
                edits.append((begin, begin, "\n    "))
        elif token.string == "," and token.type == tokenize.OP and stack and stack[-1]:
            edits.append((end, end, "\n        "))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token
    made, at = [], 0
    for begin, end, text in sorted(edits, key=lambda one: one[:2]):
        made += [source[at:begin], text]
        at = end
    text = "".join([*made, source[at:]])
    return moved(without_docstrings(ast.parse(source)), text, question)


KEYWORDS = {"if", "in", "and", "or", "not", "return", "for", "while", "else", "elif", "is", "lambda", "yield", "assert",
            "del", "with", "import", "from", "except", "as", "await", "print_", "raise"}


# Order

def needs(statement, defined: dict, deep: bool = False) -> set:
    """Names of the file that must be there when this is defined; deep: or when it is called."""
    found, waiting = set(), [statement]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (*FUNCTIONS, ast.Lambda)) and not deep and one is not None:
            inner = [*getattr(one, "decorator_list", []), *one.args.defaults, *one.args.kw_defaults,
                     getattr(one, "returns", None), *(arg.annotation for arg in one.args.args + one.args.kwonlyargs)]
            waiting += [part for part in inner if part is not None]
            continue
        if isinstance(one, ast.Name) and one.id in defined:
            found.add(one.id)
        waiting += ast.iter_child_nodes(one)
    return found


def reordered(source: str, question: dict) -> Said:
    """Functions and classes that stand side by side in the other order, but for those that another needs."""
    tree = ast.parse(source)
    defined = {one.name: one for one in tree.body if isinstance(one, (*FUNCTIONS, ast.ClassDef))}

    def all_needs(statement):
        found = needs(statement, defined)
        waiting = list(found)
        while waiting:
            for name in needs(defined[waiting.pop()], defined, deep=True) - found:
                found.add(name)
                waiting.append(name)
        return found - {statement.name}

    made, run = [], []

    def flush():
        left, done = run[::-1], []
        here = {one.name for one in run}
        while left:
            there = {one.name for one in done}
            ready = next((one for one in left if all_needs(one) & here <= there), left[-1])
            left.remove(ready)
            done.append(ready)
        made.extend(done)
        run.clear()

    for one in tree.body:
        if isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            run.append(one)
        else:
            flush()
            made.append(one)
    flush()
    tree.body = made
    return moved(tree, ast.unparse(tree), question)


# Statements

class ThroughVariables(ast.NodeTransformer):
    """x = f(y) becomes made = f(y); x = made: in functions, where nothing else can see the new name."""

    def __init__(self):
        self.depth = self.count = 0

    def visit_FunctionDef(self, node):
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        outside, self.depth = self.depth, 0
        self.generic_visit(node)
        self.depth = outside
        return node

    def visit_Assign(self, node):
        plain = (ast.Constant, ast.Name, ast.Yield, ast.Await, ast.Lambda, ast.Tuple)
        if not self.depth or len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple) or \
                isinstance(node.value, plain):
            return node
        self.count += 1
        name = f"made_{self.count}"
        first = ast.Assign([ast.Name(name, ast.Store())], node.value)
        second = ast.Assign(node.targets, ast.Name(name, ast.Load()))
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in (first, second)]


def through_variables(source: str, question: dict) -> Said:
    tree = ThroughVariables().visit(ast.parse(source))
    return moved(tree, ast.unparse(tree), question)


class ThroughHelpers(ast.NodeTransformer):
    """x.append(y) becomes helper(x, y), of a function of its own for each such place."""

    def __init__(self):
        self.helpers = []

    def visit_Expr(self, node):
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
                and len(call.args) == 1 and isinstance(call.func.value, (ast.Name, ast.Attribute))):
            return node
        name = f"helper_{len(self.helpers) + 1}"
        helper = ast.parse(f"def {name}(where, what):\n    where.append(what)").body[0]
        for one in ast.walk(helper):
            one.lineno = 0  # no line of the program; some nodes have none anyway
        self.helpers.append(helper)
        made = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [call.func.value, call.args[0]], []))
        return ast.fix_missing_locations(ast.copy_location(made, node))


def through_helpers(source: str, question: dict) -> Said:
    tree = ast.parse(source)
    through = ThroughHelpers()
    tree = through.visit(tree)
    imports = max((at for at, one in enumerate(tree.body) if isinstance(one, (ast.Import, ast.ImportFrom))), default=0)
    tree.body[imports + 1:imports + 1] = through.helpers
    return moved(tree, ast.unparse(tree), question)


def without_guard(source: str, question: dict) -> Said:
    """if __name__ == "__main__": main() becomes main()"""
    tree = ast.parse(source)
    body = []
    for one in tree.body:
        guards = isinstance(one, ast.If) and "__name__" in ast.unparse(one.test) and not one.orelse
        body += one.body if guards else [one]
    tree.body = body
    return moved(tree, ast.unparse(tree), question)


WAYS = {"renamed": renamed, "printed anew": printed_anew, "laid out anew": laid_out_anew, "reordered": reordered,
        "through variables": through_variables, "through helpers": through_helpers, "without guard": without_guard}
