# SPDX-License-Identifier: Apache-2.0
"""What is known of PyTorch's operators, what they are given and whom they choose, for chosen_values.py."""

# What they write hangs on none of the values that they are given.
CONSTANT = {"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full",
            "new_empty", "new_empty_strided", "rand_like", "randint_like", "randn_like"}
UNWRITTEN = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided",
             "empty_permuted"}
NUMBERS = (bool, int, float, complex)
BY_INDEX = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}
CHOOSES = {"topk", "sort", "argsort", "argmax", "argmin", "max", "min", "multinomial"}


class Facts:
    """What PyTorch says of an operator."""

    def __init__(self, operator):
        schema = operator._schema
        tags = operator.tags
        self.operator = operator
        self.name = schema.name.split("::")[-1]
        self.has_unknown_size = torch.Tag.dynamic_output_shape in tags
        self.is_random = torch.Tag.nondeterministic_seeded in tags
        self.is_constant = self.name in CONSTANT
        self.is_unwritten = self.name in UNWRITTEN
        self.chooses = self.name in CHOOSES
        self.fills = self.name in ("fill_", "zero_")
        self.copies = self.name == "copy_"
        self.selects = self.name == "masked_select" or self.name in BY_INDEX
        self.reads_masks = self.has_unknown_size or self.selects
        # What it reads says whether its arguments are right (a deviation below zero).
        self.checks_values = self.name == "normal" and "std" in [one.name for one in schema.arguments]
        self.is_plain = not (self.has_unknown_size or self.is_constant or self.chooses or self.fills or
                             self.copies or self.selects or self.checks_values)
        self.tensors = [place for place, argument in enumerate(schema.arguments)
                        if str(argument.type) in ("Tensor", "Optional[Tensor]")]
        self.names = [argument.name for argument in schema.arguments]
        self.writes = [number for number, argument in enumerate(schema.arguments)
                       if argument.alias_info is not None and argument.alias_info.is_write]

    def dimension(self, args):
        place = self.names.index("dim") if "dim" in self.names else None
        if place is None:
            return None
        if place < len(args):
            return args[place]
        return self.operator._schema.arguments[place].default_value

    def makes_numbers(self, kwargs):
        """Whether its result is one of whole numbers or truth values, as far as it is said."""
        if self.name in ("randint", "randperm"):
            return not (kwargs.get("dtype") or torch.int64).is_floating_point
        dtype = kwargs.get("dtype")
        return dtype is not None and not dtype.is_floating_point and not dtype.is_complex

    def written(self, args, kwargs):
        found = []
        for number in self.writes:
            value = args[number] if number < len(args) else kwargs.get(self.names[number])
            collect((value,), {}, found)
        return found


def without_ours(keys, ours):
    # Compilers dispatch by Python, and would come back.
    return keys.remove(ours).remove(torch._C.DispatchKey.PythonDispatcher)


def split(name):
    base, _, overload = name.partition(".")
    return base, overload


def named_operator(name):
    base, overload = split(name)
    return getattr(getattr(torch.ops.aten, base[len("aten::"):]), overload or "default")


def collect(args, kwargs, into):
    """All tensors in them; False where one is of a class of its own."""
    for values in (args, kwargs.values()):
        for value in values:
            kind = type(value)
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                if value.layout is not torch.strided:
                    return False
                into.append(value)
            elif kind is list or kind is tuple:
                if not collect(value, {}, into):
                    return False
            elif isinstance(value, torch.Tensor):
                return False
    return True


def tensors_in(result):
    found = []
    collect((result,), {}, found)
    return found


def holds_tensors(result):
    if type(result) is list or type(result) is tuple:
        return any(map(holds_tensors, result))
    return isinstance(result, torch.Tensor)


def exchange(value, twins):
    kind = type(value)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        return twins.get(id(value), value)
    if kind is list or kind is tuple:
        return kind([exchange(one, twins) for one in value])
    if kind is dict:
        return {name: exchange(one, twins) for name, one in value.items()}
    return value


def is_for_gpu(kwargs):
    device = kwargs.get("device")
    return device is not None and torch.device(device).type == "cuda"


def is_fraction(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def covers(tensor):
    return tensor.is_cuda and tensor.layout is torch.strided and \
        tensor.numel() * tensor.element_size() >= tensor.untyped_storage().nbytes()


def selected(args, twins):
    """How many elements a known mask among the indices selects."""
    is_mask = isinstance(args[1], torch.Tensor)  # of masked_select, as large as what it selects from
    for one in [args[1]] if is_mask else args[1]:
        if isinstance(one, torch.Tensor) and one.dtype in (torch.bool, torch.uint8):
            known = one if not one.is_cuda else twins.get(id(one))
            if known is not None:
                times = known.expand(torch.broadcast_shapes(known.size(), args[0].size())) \
                    if is_mask else known
                return int(times.count_nonzero())
    return None


def size_of(facts, made, twins, args):
    """What the operator reads to know how large its result is."""
    if facts.name == "bincount":
        values = twins.get(id(args[0]))
        return 0 if values is None or values.numel() == 0 else int(values.max())
    found = tensors_in(made)
    return found[0].size(0) if found and found[0].dim() > 0 else 0


class Routing:
    """Who is chosen by values that nobody knows."""

    def __init__(self, text):
        self.kind, _, rest = text.partition(":")
        self.rest = [float(number) for number in rest.split(",")] if rest else []
        self.generator = torch.Generator("cpu")
        self.generator.manual_seed(0)

    def choose(self, rows, among, count):
        """rows × count numbers below `among`, in a row none twice."""
        if self.kind == "worst":
            return torch.arange(count, device="cpu").expand(rows, count)
        if self.kind == "balanced":
            # One after the other; where there are fewer than numbers, they lie evenly among them.
            every = torch.arange(rows * count, device="cpu")
            fewer = rows * count < among
            every = every * among // (rows * count) if fewer else every % among
            return every.view(rows, count)
        if self.kind == "zipf":
            shares = torch.arange(1, among + 1, dtype=torch.float64, device="cpu") ** -self.rest[0]
        else:
            shares = torch.tensor(self.rest, dtype=torch.float64, device="cpu")
            # A choice among others than the experts.
            if among != len(shares):
                return torch.arange(count, device="cpu").expand(rows, count)
        if count == 1:
            return torch.multinomial(shares, rows, True, generator=self.generator).view(rows, 1)
        # The largest of log p plus noise of this form are a draw without replacement by p.
        chosen = []
        at_once = max(1, (1 << 22) // among)
        for first in range(0, rows, at_once):
            size = min(at_once, rows - first), among
            noise = torch.rand(size, generator=self.generator, dtype=torch.float64, device="cpu")
            chosen.append((shares.log() - (-noise.log()).log()).topk(count).indices)
        return torch.cat(chosen)
