# SPDX-License-Identifier: Apache-2.0
"""Reads the Python files that Inductor writes. In the globals of agent.py; compiled_code.py asks.

A file calls kernels and operators one after the other (Code), and says before each kernel that it
defines what that one computes (Kernel). Which buffer holds which result is not written down: it
follows from the order, the shapes and the pointers (stored_results).
"""

MOST_BETWEEN = 16  # statements that are looked through for a buffer's

line_pattern = None  # compiled for the first file


def statement_in(line):
    """What a line makes, renames, deletes or writes; None: nothing of that."""
    global line_pattern
    if line_pattern is None:
        regular = modules["re"]
        line_pattern = regular.compile(r"""\s+(?:
            (?P<made>buf\d+)\ =\ (?:(?P<how>[\w.]+)\(|(?P<old>buf\d+)(?P<part>\[\d+\])?(?!\w|\[))|
            del\ (?P<gone>buf\d+)|
            (?P<kernel>\w+)\.run\(|
            .*\bout=(?P<written>buf\d+)\b)""", regular.VERBOSE)
    return line_pattern.match(line)


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
            matched = statement_in(line)
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
    another, and "buf25" is what buffer 25 holds. Chosen among the ways to go through the results where
    dtypes and shapes agree: the one whose steps are most like the steps of the numbers. pointers: buffer to
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
        self.names, self.shapes, self.places, self.read_by = {}, {}, {}, {}
        self.returned, self.parameters, self.tuple = [], [], ""

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
                words = rest.replace(",", " ").replace(")", " ").replace("(", " ").split()
                self.read_by[name] = [word[1:] for word in words if word.startswith("%")]
                for word in self.read_by[name]:
                    if word.startswith("getitem") and word not in self.places:
                        self.places[word] = len(self.places)
                        self.read_by[word] = [self.tuple]
                if not rest.startswith('Tensor "'):
                    self.tuple = name
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

    def lineage(self, node):
        """The node, and what it is computed from: what only the backward pass wants, such as where an
        activation is zero, has no name in the program."""
        found = [node]
        for one in found:
            if len(found) < MOST_BETWEEN:
                found += [other for other in self.read_by.get(one, ()) if other not in found]
        return found

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
