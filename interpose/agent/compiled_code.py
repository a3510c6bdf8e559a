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
MOST_BETWEEN = 16  # statements that are looked through for a buffer's
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
line_pattern = None


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
    global frame_pattern, line_pattern
    regular = modules["re"]
    frame_pattern = regular.compile(r'File "(.+)", line (\d+), in (.+)(?:\n(?! *File)(.*))?')
    line_pattern = regular.compile(r"""\s+(?:
        (?P<made>buf\d+)\ =\ (?:(?P<how>[\w.]+)\(|(?P<old>buf\d+)(?P<part>\[\d+\])?(?!\w|\[))|
        del\ (?P<gone>buf\d+)|
        (?P<kernel>\w+)\.run\(|
        .*\bout=(?P<written>buf\d+)\b)""", regular.VERBOSE)
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
            # What is looked up is about to import it.
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
        # What the memory holds when the code returns comes first.
        last = code.last_name(name) if allocates else name
        found = sources.of(last)
        if last != name:
            found = unlike(found + sources.of(name))
        for place, source in enumerate(found[:MOST_SOURCES]):
            rows += (index + 1, FURTHER if place else 0, source.frames, source.module,
                     source.operator)
    record_generated(path, known.owner, flags, rows)


class Code:
    """The statements of a generated file that make or write buffers.

        buf14 = empty_strided_cuda((512, 128), (128, 1), torch.float32)
        extern_kernels.mm(buf10, primals_8, out=buf14)
        buf23 = reinterpret_tensor(buf14, (8, 64, 128), (8192, 128, 1), 0); del buf14  # reuse
        triton_per_fused_add_5.run(buf23, buf1, buf27, 512, 128, stream=stream0)
    """

    def __init__(self, lines):
        self.lines = lines
        self.calls = []  # index of the line, buffer, whether the buffer is allocated there
        self.made = {}  # buffer: index of the line where it gets its name
        self.shapes = {}
        self.kernels = []  # kernel, names of its source nodes, buffers named since the one before, arguments
        self.next_names, self.deleted = {}, set()
        self.whole = {}  # part of what an operator returned: the tuple
        self.inputs, self.returned = [], []  # names
        self.statements = []  # index of each line that calls a kernel or an operator
        since, nodes = [], []
        for index, line in enumerate(lines):
            matched = line_pattern.match(line)
            if calls_kernel(line):
                self.statements.append(index)
            if matched is None:
                nodes = source_nodes(line) or nodes
                if line.endswith(" = args"):
                    self.inputs = line[:-len(" = args")].replace(",", " ").split()
                elif line.startswith("        return ("):
                    self.returned = arguments_in(line)
                continue
            name, how, old, gone = (matched[key] for key in ("made", "how", "old", "gone"))
            if gone is not None:
                self.deleted.add(gone)
            elif matched["part"] is not None:
                self.whole[name] = old
                if matched["part"] == "[0]":  # the largest
                    self.next_names[old] = name
            elif name is not None and (old is not None or how == "reinterpret_tensor"):
                source, shape = self.renamed(line, old)
                if "# reuse" in line:
                    self.next_names[source] = name
                    since.append(name)
                self.made[name], self.shapes[name] = index, shape
            elif name is not None:
                self.made[name], self.shapes[name] = index, shape_in(line)
                if how.startswith("empty_strided"):
                    since.append(name)
                if how != "empty_strided_cpu":
                    self.calls.append((index, name, True))
            elif matched["written"] is not None:
                self.calls.append((index, matched["written"], False))
                since = [other for other in since if other != matched["written"]]
            else:
                self.kernels.append((matched["kernel"], nodes, since, arguments_in(line)))
                since = []

    def renamed(self, line, old):
        """The buffer that a statement gives another name, and the dtype and shape from there on."""
        if old is not None:
            return old, self.shapes.get(old)
        source = line.split("reinterpret_tensor(", 1)[1].split(",", 1)[0]
        return source, ((self.shapes.get(source) or ("",))[0], shape_in(line)[1])

    def last_name(self, name):
        """Of the memory when the code returns; the name itself where it is freed before."""
        last = name
        while last in self.next_names:
            last = self.next_names[last]
        return name if last in self.deleted else self.whole.get(last, last)

    def statement_of(self, name, index):
        """The first from a line on that has to do with a buffer."""
        later = self.statements[modules["bisect"].bisect_left(self.statements, index):][:MOST_BETWEEN]
        for statement in later:
            if name in arguments_in(self.lines[statement].replace("out=", "")) or statement == index:
                return statement
        return later[0] if later else None

    def is_backward(self):
        return any("AOT ID" in line and "backward" in line for line in self.lines[:3])


def source_nodes(line):
    """Of a comment "Topologically Sorted Source Nodes: [x, layer_norm], Original ATen: …"."""
    parts = line.split("Source Nodes: [", 1)
    return parts[1].split("]", 1)[0].split(", ") if len(parts) == 2 else []


DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "bool": "b8",
          "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8"}


def shape_in(line):
    """Of a call, its dtype ("f32"; "": not known) and the first tuple behind its name: "8,64,1"."""
    dtype = line.rsplit("torch.", 1)[-1].split(")", 1)[0]
    parts = line.split("(", 1)[1].split("(", 1)
    return DTYPES.get(dtype, ""), plain_shape(parts[1].split(")", 1)[0]) if len(parts) == 2 else None


def calls_kernel(line):
    return line.startswith("  ") and "assert_" not in line and (
        ".run(" in line or "extern_kernels." in line or "torch.ops." in line)


def nearest(places, saved, others):
    """To most of what forward saved, each of which several nodes may have to do with (one that all
    layers share, such as a mask, leads to none of them); else to the others."""
    def distance(place):
        return (sum(min(abs(place - one) for one in ones) for ones in saved),
                sum(abs(place - one) for one in others))

    return min(places, key=distance)


def is_size(name):
    return name.startswith("sym_") or name[:1] == "s" and name[1:].isdigit()


def arguments_in(line):
    """The names that a call hands over, also as another view."""
    found, depth = [], 0
    for piece in line.split("(", 1)[1].split(","):
        if depth == 0:
            found.append(piece.rsplit("(", 1)[-1].strip(" )"))
        depth += piece.count("(") - piece.count(")")
    return found


def stored_results(results, buffers, pointers=None):
    """Which result is in which buffer: {buffer: name}. Both are pairs of a name and of dtype and
    shape; results are in the order of the numbers of their buffers, most of which follow one
    another, and "buf25" is what buffer 25 holds. Of all ways to go through the results where dtypes
    and shapes agree, the one whose steps are most like the steps of the numbers. pointers: buffer to
    the names of the results that the kernel may write through the pointer that it is called with."""
    buffers = sorted(buffers, key=lambda pair: int(pair[0][3:]))
    own = {result for result, _ in results if result.startswith("buf")}
    told = own.intersection(name for name, _ in buffers)
    ways = {-1: (0, ())}  # place of the last result taken: cost, places
    before, placed = None, []
    for name, kind in buffers:
        number, next_ways = int(name[3:]), {}
        may_be = (pointers or {}).get(name)
        for place, (result, of_result) in enumerate(results):
            if not agree(kind, of_result) or (result in own or name in told) and result != name:
                continue
            if may_be is not None and result not in may_be:
                continue
            for last, (cost, places) in ways.items():
                if last >= place:
                    continue
                step = 0 if before is None else abs((number - before) - (place - last))
                known = next_ways.get(place)
                if known is None or cost + step < known[0]:
                    next_ways[place] = cost + step, places + (place,)
        if next_ways:  # else it is none of the kernel's
            ways, before = next_ways, number
            placed.append(name)
    places = min(ways.values())[1]
    return {name: results[place][0] for name, place in zip(placed, places)}


def agree(one, other):
    """What is not known agrees with everything."""
    if one is None or other is None:
        return True
    return one[1] == other[1] and (not one[0] or not other[0] or one[0] == other[0])


def plain_shape(text):
    return text.replace(" ", "").rstrip(",")


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


class Kernel:
    """What the comments before a generated kernel say of it. It returns nodes, in the order in which
    it computes them, but some of them are stored nowhere; the graph above names them in the order of
    the program, which is that of the buffers' numbers.

        # Topologically Sorted Source Nodes: [x, layer_norm], Original ATen: [aten.add, …]
        # Source node to ATen node mapping:
        #   x => add
        # Graph fragment:
        #   %add : Tensor "f32[8, 64, 128][8192, 128, 1]cuda:0"[num_users=3] = call_function[…](…)
        #   return %add,%getitem_1
        triton_per_fused_add_2 = async_compile.triton(…
        def triton_per_fused_add_2(in_ptr0, out_ptr0, …
    """

    def __init__(self, nodes):
        self.nodes = nodes
        self.names, self.shapes, self.places = {}, {}, {}
        self.returned, self.parameters = [], []

    def read(self, comment):
        if comment.startswith("return %"):
            self.returned = comment[len("return "):].replace("%", "").split(",")
        elif comment.startswith("%") and " : " in comment:
            name, rest = comment[1:].split(" : ", 1)
            if rest.startswith('Tensor "'):
                dtype, shape = rest[len('Tensor "'):].split("[", 1)
                self.shapes[name] = dtype, plain_shape(shape.split("]", 1)[0])
            if " = PlaceHolder[" not in rest:
                # A part of a tuple is named by those that use it only.
                for word in rest.replace(",", " ").replace(")", " ").replace("(", " ").split():
                    if word.startswith("%getitem"):
                        self.places.setdefault(word[1:], len(self.places))
                self.places[name] = len(self.places)
        elif " => " in comment:
            source, made = comment.split(" => ", 1)
            self.names.update((name, source) for name in made.split(", "))

    def results(self):
        """Name, dtype and shape."""
        placed, last = [], -1
        for name in self.returned:
            last = self.places.get(name, last)
            placed.append((last, len(placed), name))
        return [(name, self.shapes.get(name)) for _, _, name in sorted(placed)]

    def pointers(self, buffers, arguments):
        """{buffer: what it may hold}. The pointers that are only written count what is returned but
        what is written over something read; which that is, is not said."""
        handed = dict(zip(arguments, self.parameters))
        written_over = sum(not handed.get(name, "").startswith("out_ptr") for name in buffers)
        found = {}
        for name in buffers:
            pointer = handed.get(name, "")
            if pointer.startswith("out_ptr") and pointer[7:].isdigit():
                first = int(pointer[7:])
                found[name] = self.returned[first:first + written_over + 1]
        return found


def kernels_of(lines):
    """{name: Kernel}"""
    found, kernel = {}, Kernel(())
    for line in lines:
        if "Source Nodes: [" in line:
            kernel = Kernel(source_nodes(line))
        elif line.startswith("#   "):
            kernel.read(line[len("#   "):])
        elif " = async_compile." in line and not line.startswith((" ", "#")):
            found[line.split(" ", 1)[0]] = kernel
            kernel = Kernel(())
        elif line.startswith("def ") and "(" in line:
            defined = found.get(line[len("def "):].split("(", 1)[0])
            if defined is not None:
                defined.parameters = [
                    piece.split(":", 1)[0].strip(" )") for piece in line.split("(", 1)[1].split(",")]
    return found


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
        self.passed = self.in_reverse() if code.is_backward() else {}
        self.returned = self.of_kernels()
        if not code.is_backward():
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
        """The node behind each statement of a backward pass. Of those with the statement's line it is
        that next to what forward saved for it: the name of a weight tells where it is used, and that
        of another tensor where forward made it. Where nothing is known of them: next to the one
        before, as a backward pass goes through the nodes from the last to the first."""
        nodes, key = self.known.nodes, self.key
        alike, near = {}, self.places_of_inputs()
        for place, source in enumerate(nodes):
            alike.setdefault((source.frames, source.words)[key], []).append(place)
        now, found, made = len(nodes), {}, {}
        for index in self.code.statements:
            like = alike.get(self.trace_at(index)[key])
            if like is None:
                continue
            line = self.code.lines[index]
            arguments = [name.replace("out=", "") for name in arguments_in(line)]
            arguments = [self.code.whole.get(name, name) for name in arguments if name.isidentifier()]
            if "extern_kernels." in line:
                like = [place for place in like if nodes[place].operator in PRODUCTS] or like
            like = [place for place in like if nodes[place].operator not in WITHOUT_GRADIENT] or like
            saved = [near[name] for name in arguments if near.get(name)]
            computed = [made[name] for name in arguments if name in made]
            place = nearest(like, saved, computed or [now])
            if saved or computed or not near:
                now = place
            found[index] = nodes[place]
            for name in arguments:
                made.setdefault(name, place)
            made.setdefault(line.split(" = ", 1)[0].strip(), place)
        return found

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
                found[buffer] = self.known.by_name.get(own.get(kernel.names.get(result)))
        return found

    def of(self, name):
        index = self.code.made.get(name)
        if index is None or (self.code.is_backward() and not self.starts):
            return []
        named, is_fused = self.named_at(index)
        trace = self.trace_at(index)
        first = self.returned.get(name) or self.passed.get(self.code.statement_of(name, index))
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
