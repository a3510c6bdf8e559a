# SPDX-License-Identifier: Apache-2.0
"""Tells which lines of the program generated code allocates for. In the globals of agent.py.

torch.compile's Inductor writes a Python file for each graph, and each buffer that it allocates has a
line there. When the file is loaded, which is once for each compiled graph, a record says of each
such line what it stands for:

    compiled in this process:  buffer ─► nodes of the graph that it was made from ─► lines, module
    read back from a cache:    names in the comment behind the line ─► nodes of Dynamo's graph, or
                               (backward) the line's own stack trace, with the module by its order

Dynamo runs in either case, and what it traced is a local variable of whoever loads the file.
Nothing of this runs in a step; the graphs are not kept alive.
"""

BACKWARD, FURTHER, FROM_CACHE = 2, 4, 8  # generated_*
MOST_SOURCES = 6  # of one line
MOST_LINES = 20000  # of one file
PRODUCTS = ("linear", "addmm", "matmul", "mm", "bmm", "baddbmm", "einsum", "conv1d", "conv2d", "conv3d")
WITHOUT_GRADIENT = ("add", "view", "reshape", "transpose", "permute", "contiguous", "expand", "getitem", "unsqueeze",
                    "squeeze", "flatten", "split", "chunk", "unbind", "slice", "float", "to", "type_as", "size")
MOST_GRAPHS = 64  # whose backward may still be compiled

traced = {}  # compile id: the Traced of its graph


class Source:
    """Where in the program a node comes from. frames: file, line, function, …, outermost first;
    words: the same lines by what is written in them."""

    def __init__(self, name, frames, words, module, operator):
        self.name, self.frames, self.words = name, frames, words
        self.module, self.operator = module, operator


class Traced:
    """What Dynamo traced of one frame."""

    def __init__(self, graph_module, output):
        self.identity = id(graph_module)
        held = getattr(output, "nn_modules", None) or {}
        self.modules = {key: id(module) for key, module in held.items()}
        self.texts = {}
        self.owner = owner_of(output)
        sources = [self.source(node) for node in graph_module.graph.nodes]
        self.nodes = [source for source in sources if source is not None]
        self.by_name = {source.name: source for source in self.nodes}
        self.places = {source.name: place for place, source in enumerate(self.nodes)}
        self.inputs = [[self.places[user.name] for user in node.users if user.name in self.places]
                       for node in graph_module.graph.nodes if node.op == "placeholder"]
        self.returned = []  # by forward code from the cache: a name, and its place

    def source(self, node):
        """None: a node without a line, such as an argument."""
        text = node.meta.get("stack_trace") or getattr(node, "stack_trace", None)
        if not text or node.op in ("placeholder", "output", "get_attr"):
            return None
        return Source(node.name, *self.lines(text), self.module(node), operator_of(node))

    def lines(self, text):
        """Frames and words; equal texts give the same objects."""
        if text not in self.texts:
            self.texts[text] = lines_of(text)
        return self.texts[text]

    def module(self, node):
        """The address of the module that ran; 0: that whose forward was compiled."""
        stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
        if not stack:
            return 0
        key = str(next(reversed(stack))).split("@")[0]
        return int(key) if key.isdigit() else self.modules.get(key, 0)


def owner_of(output):
    """The module whose method was compiled: self is the first argument that is one, also where a
    function goes on after a graph break."""
    tx = getattr(output, "root_tx", None)
    code, held = getattr(tx, "f_code", None), getattr(tx, "f_locals", None)
    if code is None or held is None:
        return 0
    for name in code.co_varnames[:code.co_argcount]:
        if isinstance(held.get(name), torch.nn.Module):
            return id(held[name])
    return 0


def operator_of(node):
    name = str(getattr(node.target, "__name__", node.target))
    return name.replace(".default", "").rsplit("::", 1)[-1]


frame_pattern = None  # compiled by watch_compiler


def lines_of(text):
    """Of a stack trace as Dynamo writes it; what autograd adds about sums of gradients is left out."""
    frames, words = [], []
    for file, line, function, code in frame_pattern.findall(
            text.split("Gradient addition node", 1)[0]):
        frames += (file, int(line), function)
        words += (function, code.strip())
    return tuple(frames), tuple(words)


def watch_compiler():
    if find(torch, "compile") is None:
        return
    global frame_pattern
    regular = modules["re"]
    frame_pattern = regular.compile(r'File "(.+)", line (\d+), in (.+)(?:\n(?! *File)(.*))?')
    if modules.get("torch._inductor.codecache") is not None:
        watch_loading()
        return
    backend = needed(torch, "_TorchCompileInductorWrapper")
    setattr(backend, "__call__", FirstLookUp(backend, "__call__", watch_loading))


class FirstLookUp:
    """A function of a class, until it is looked up for the first time: does something else first,
    and is in no stack of what is then called."""

    def __init__(self, owner, name, before):
        self.owner, self.name, self.before = owner, name, before
        self.function = owner.__dict__[name]

    def __get__(self, instance, owner=None):
        setattr(self.owner, self.name, self.function)
        try:
            # The function that is looked up is about to import this module.
            __import__("torch._inductor.codecache")
            self.before()
        except Exception as error:
            swallow(error)
        return self.function.__get__(instance, owner)


def watch_loading():
    cache = needed(modules.get("torch._inductor.codecache"), "PyCodeCache")
    load_of_cache = cache.__dict__["load_by_key_path"].__func__

    def load_by_key_path(cls, key, path, linemap=None, *args, **kwargs):
        if linemap is not None:
            try:
                tell_code(path, linemap)
            except Exception as error:
                swallow(error)
        return load_of_cache(cls, key, path, linemap, *args, **kwargs)

    cache.load_by_key_path = classmethod(load_by_key_path)


def dynamo_graph():
    """What Dynamo traced of the code that is being loaded, or None."""
    context = find(modules.get("torch._guards"), "CompileContext.current_compile_id")
    number = str(context()) if context is not None else ""
    frame, part = modules["sys"]._getframe(1), None
    while frame is not None:
        if frame.f_code.co_name == "compile_submod":
            part = frame.f_locals.get("input_mod")  # of a graph that DistributedDataParallel divides
        if frame.f_code.co_name.endswith("call_user_compiler"):
            held = frame.f_locals
            graph_module, output = part or held.get("gm"), held.get("self")
            if hasattr(graph_module, "graph"):
                known = traced.get(number)
                if known is None or known.identity != id(graph_module):
                    while len(traced) >= MOST_GRAPHS:
                        traced.pop(next(iter(traced)))
                    known = traced[number] = Traced(graph_module, output)
                return known
        frame = frame.f_back
    return traced.get(number)


def tell_code(path, linemap):
    """Of a file that is about to be loaded. linemap: pairs of a line and of what stands for it from
    there on, a stack trace."""
    with open(path, encoding="utf-8") as file:
        code = Code(file.read().split("\n"))
    known = dynamo_graph()
    if known is None:
        return
    graph = find(modules.get("torch._inductor.virtualized"), "V.graph")
    buffers = getattr(graph, "name_to_buffer", None)
    if buffers is None:
        flags = FROM_CACHE | (BACKWARD if code.is_backward() else 0)
        sources = CachedSources(known, code, linemap)
    else:
        flags = BACKWARD if getattr(graph, "is_backward", False) else 0
        sources = GraphSources(known, graph, buffers)
    rows = []
    for index, name, allocates in code.calls[:MOST_LINES]:
        # The name that the memory holds when the code returns comes first.
        last = code.last_name(name) if allocates else name
        found = sources.of(last)
        if last != name:
            found = unlike(found + sources.of(name))
        for place, source in enumerate(found[:MOST_SOURCES]):
            rows += (index + 1, FURTHER if place else 0, source.frames, source.module,
                     source.operator)
    record_generated(path, known.owner, flags, rows)


class GraphSources:
    """Of a graph that is being compiled."""

    def __init__(self, known, graph, buffers):
        self.known, self.buffers = known, buffers
        self.operations = getattr(graph, "name_to_op", None) or {}

    def of(self, name):
        made = self.buffers.get(name) or self.operations.get(name)
        if made is None:
            return []
        nodes = list(getattr(made, "origins", None) or ())
        first = getattr(made, "origin_node", None)
        nodes = [first] + nodes if first else nodes
        # An operator in a frame of random state has the line of the checkpoint around it: what it
        # reads is nearer to its own.
        nodes.sort(key=lambda node: "rng_state" in str(node.target))
        found = unlike(self.known.source(node) for node in nodes)
        # A kernel of a library computes one operator; the rest are views of what it reads.
        return found if type(made).__name__ == "ComputedBuffer" else found[:1]


def unlike(sources):
    """Those with a line, each line and module once. A part of a tuple, which has no module of its
    own, has that of the next with its line."""
    sources = [source for source in sources if source is not None and source.frames]
    homes = {}
    for source in sources:
        if source.module:
            homes.setdefault(source.frames, source)
    found = {}
    for source in sources:
        is_part = source.operator == "getitem" and not source.module
        home = homes.get(source.frames, source) if is_part else source
        found.setdefault((home.frames, home.module), home)
    return list(found.values())


def nearest(places, saved, others):
    """To most of what forward saved, each of which several nodes may have to do with (one that all
    layers share, such as a mask, leads to none of them); else to the others."""
    around = set()  # each of them: the places are in order, and may be many
    for one in [one for ones in saved for one in ones[:MOST_SOURCES]] + list(others):
        at = modules["bisect"].bisect_left(places, one)
        around.update(places[max(at - MOST_SOURCES, 0):at + MOST_SOURCES])

    def distance(place):
        return (sum(min(abs(place - one) for one in ones) for ones in saved),
                sum(abs(place - one) for one in others))

    return min(sorted(around), key=distance)


class CachedSources:
    """Of code that an earlier compilation wrote."""

    def __init__(self, known, code, linemap):
        self.known, self.code = known, code
        self.starts = [start for start, text in linemap]
        self.traces = [known.lines(text) if text else ((), ()) for start, text in linemap]
        # The program's lines may have moved since the code was written.
        present = {source.frames for source in known.nodes}
        have_moved = all(frames not in present for frames, words in self.traces)
        self.key = 1 if have_moved else 0
        self.is_backward = code.is_backward()
        self.passed = self.in_reverse() if self.is_backward else {}
        self.returned = self.of_kernels()
        if not self.is_backward:
            known.returned = [(name, self.place_of(name)) for name in code.returned]

    def place_of(self, name):
        """In the graph, of a buffer that forward returns."""
        found = self.of(self.code.whole.get(name, name)) if name.startswith("buf") else []
        return self.known.places.get(found[0].name) if found else None

    def trace_at(self, index):
        """Frames and words. Code that is divided for CUDA graphs has no line map."""
        entry = modules["bisect"].bisect_right(self.starts, index + 1) - 1
        return self.traces[entry] if entry >= 0 else ((), ())

    def in_reverse(self):
        """The node behind each statement of a backward pass. Where several have the statement's line, it
        is the one next to what forward saved for it: the name of a weight tells where it is used, and that
        of another tensor where forward made it. Where nothing is known of them: next to the one
        before, as a backward pass goes through the nodes from the last to the first."""
        nodes, key = self.known.nodes, self.key
        alike, near = {}, self.places_of_inputs()
        for place, source in enumerate(nodes):
            alike.setdefault((source.frames, source.words)[key], []).append(place)
        now, found, made = len(nodes), {}, {}
        groups, everywhere = {}, range(len(nodes))
        for index in self.code.statements:
            line = self.code.lines[index]
            # Code that is divided for CUDA graphs has no line map.
            group = self.trace_at(index)[key] if self.starts else None, "extern_kernels." in line
            if group not in groups:
                places = alike.get(group[0], ()) if self.starts else everywhere
                groups[group] = self.with_gradient(places, group[1])
            like = groups[group]
            arguments = [name.replace("out=", "") for name in arguments_in(line)]
            arguments = [self.code.whole.get(name, name) for name in arguments if name.isidentifier()]
            saved = [near[name] for name in arguments if near.get(name)]
            computed = [made[name] for name in arguments if name in made]
            if not like or not (self.starts or saved or computed):
                continue
            place = nearest(like, saved, computed or [now])
            if saved or computed or not near:
                now = place
            found[index] = nodes[place]
            for name in arguments:
                made.setdefault(name, place)
            made.setdefault(line.split(" = ", 1)[0].strip(), place)
        return found

    def with_gradient(self, places, is_product):
        """Those of nodes that a kernel of a backward pass may belong to."""
        nodes = self.known.nodes
        if is_product:
            places = [place for place in places if nodes[place].operator in PRODUCTS] or places
        return [place for place in places if nodes[place].operator not in WITHOUT_GRADIENT] or places

    def places_of_inputs(self):
        """{what forward saved: places of the nodes that it has to do with}. Forward returns last what
        backward is called with first, in the same order."""
        near = {}
        saved = [name for name in self.code.inputs if not is_size(name) and not name.startswith("tangents")]
        returned = [pair for pair in self.known.returned if pair[0] and not is_size(pair[0])]
        returned = returned[len(returned) - len(saved):] if saved else []
        for name, (as_returned, place) in zip(saved, returned):
            if name.startswith("primals_") and name != as_returned:
                return {}  # they do not belong together
            if as_returned.startswith("primals_"):
                number = int(as_returned[len("primals_"):]) - 1
                near[name] = self.known.inputs[number] if number < len(self.known.inputs) else []
            elif place is not None:
                near[name] = [place]
        return near

    def of_kernels(self):
        """The node of each buffer that a fused kernel writes: see Kernel and stored_results. Layers
        that are alike share a kernel, which has the names of the first: the call has its own in the
        same order."""
        kernels, found = kernels_of(self.code.lines), {}
        for name, called, buffers, arguments in self.code.kernels:
            kernel = kernels.get(name)
            if kernel is None:
                continue
            own = dict(zip(kernel.nodes, called)) if len(kernel.nodes) == len(called) else {}
            kinds = [(buffer, self.code.shapes.get(buffer)) for buffer in buffers]
            results, pointers = kernel.results(), kernel.pointers(buffers, arguments)
            stored = stored_results(results, kinds, pointers)
            if len(stored) < len(buffers):
                stored = {**stored_results(results, kinds), **stored}
            for buffer, result in stored.items():
                nodes = [result] if self.is_backward else kernel.lineage(result)
                sources = [self.known.by_name.get(own.get(kernel.names.get(node))) for node in nodes]
                found[buffer] = next((source for source in sources if source is not None), None)
        return found

    def of(self, name):
        index = self.code.made.get(name)
        if index is None:
            return []
        named, is_fused = self.named_at(index)
        trace = self.trace_at(index)
        first = self.returned.get(name) or self.passed.get(self.code.statement_of(name, index))
        if first is None and self.is_backward and not self.starts:
            return []
        if first is None:
            like = [source for source in named
                    if (source.frames, source.words)[self.key] == trace[self.key]]
            first = like[-1] if like else (named[-1] if named else None)
        if first is None:
            return [Source("", *trace, 0, "")] if trace[0] and not self.key else []
        return unlike([first] + (list(reversed(named)) if is_fused else []))

    def named_at(self, index):
        """The nodes that the comment of the statement names which writes the buffer, and whether
        that is a kernel of the compiler."""
        named = []
        made = self.code.lines[index]
        calls = "torch.ops." in made or "extern_kernels." in made  # the comment is the line before
        for line in self.code.lines[index - 1 if calls else index:index + 30]:
            if "Source Nodes: [" in line:
                named = [self.known.by_name[name] for name in source_nodes(line)
                         if name in self.known.by_name]
            elif ".run(" in line:
                return named, True
            elif "extern_kernels." in line or "torch.ops." in line:
                break
        return named, False
