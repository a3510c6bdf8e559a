# SPDX-License-Identifier: Apache-2.0
"""What a program reads of its own results on the simulated GPU, where its kernels compute nothing.

A router gives 65,536 tokens to eight experts: `router(x).topk(2)` decides how large the memory of each
is. With MEMTRACE_SIM_ROUTING the numbers that topk, sort, argmax and multinomial choose by unknown
values are made up: balanced, say. What the program computes of them and of its own inputs in whole
numbers and truth values is then computed on the host (`chosen == 3`, one_hot, bincount, nonzero), by
PyTorch's own CPU operators, so that each size is the one that belongs to that choice. With
MEMTRACE_SIM_MASKS a condition on unknown values (`score > 0.5`) holds for that share of its elements.

All operators pass here below autograd, by a dispatch key that PyTorch itself does not use (Fake: of a
library outside of it; from 2.15 on of a FakeTensor mode in C++, which is passed over then). Not a
TorchDispatchMode: with one of those autograd adds up gradients in other memory.
"""

LARGEST_NUMBERS = 1 << 28  # bytes of a storage of whole numbers or truth values that are followed
LARGEST_FRACTIONS = 1 << 26  # of other numbers
SWEPT_AFTER = 1 << 26  # bytes of twins, when those of dead storages are given back
REMEMBERED = 1 << 20  # bytes of an upload that the simulator remembers (simulator/core/contents.h)


class ChosenValues:
    def __init__(self, routing, masks):
        self.routing = Routing(routing) if routing else None
        self.masks = float(masks) if masks else None
        self.hosts = {}  # by the storage's address: a weak reference to it, its memory, its twin or None
        # Storages that nothing has been written to: if no operator of PyTorch writes there before it is
        # read, something did that does not pass here, a kernel of the program's own.
        self.unwritten = set()
        self.since_sweep = 0  # bytes of twins
        self.facts = {}  # of operators
        self.random = torch.Generator("cpu").get_state()
        self.weak = find(modules.get("torch.multiprocessing.reductions"), "StorageWeakRef")
        self.key = torch._C._dispatch_key_parse("Fake")
        self.cpu = torch.device("cpu")
        self.thread = modules["_thread"].get_ident()

    def begin(self):
        # All of them, one by one: a fallback for all cannot be given tensors of other classes.
        others = torch.library.Library("_", "IMPL")
        others.fallback(torch.library.fallthrough_kernel, "Fake")
        seen = torch.library.Library("aten", "IMPL", "Fake")
        for name in torch._C._dispatch_get_all_op_names():
            if name.startswith("aten::") and self.is_seen(name):
                seen.m.impl(name[len("aten::"):], "Fake", self.handler_of(name), True)
        self.libraries = others, seen
        # Operators that take functions (cond, flex_attention) look their keys up in Python.
        operators = modules["torch._ops"]
        operators._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.append(self.key)
        for operator in list(operators._higher_order_ops.values()):
            operator.fallthrough(self.key)
        # PyTorch takes the kernels back at exit, before the last of the program's objects go.
        modules["atexit"].register(self.look, False)
        self.look(True)

    def is_seen(self, name):
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
            return False  # it is made of others
        schema = torch._C._get_schema(*split(name))
        # These change what a tensor is, not what is in its memory.
        if name.startswith("aten::record_stream") or name.startswith("aten::set_"):
            return False
        aliases = [argument.alias_info for argument in schema.arguments if argument.alias_info]
        # What a view shows is known by its storage.
        return not aliases or any(alias.is_write for alias in aliases)

    def handler_of(self, name):
        def handle(keys, *args, **kwargs):
            facts = self.facts.get(name)
            if facts is None:
                facts = self.facts[name] = Facts(named_operator(name))
            return self.handle(without_ours(keys, self.key), facts, args, kwargs)
        return handle

    def look(self, on):
        torch._C._dispatch_tls_set_dispatch_key_included(self.key, on)

    # --- twins -----------------------------------------------------------------------------------

    def is_followed(self, tensor, computed=False):
        """`computed`: of other tensors, and not only filled (as the states of an optimizer are)."""
        if tensor.layout is not torch.strided or tensor.is_quantized:
            return False
        largest = LARGEST_NUMBERS
        if is_fraction(tensor):
            # A look at the storage of a gradient keeps autograd from adding to it in place.
            if modules["_thread"].get_ident() != self.thread:
                return False
            largest = LARGEST_FRACTIONS if computed else REMEMBERED
        return tensor.numel() * tensor.element_size() <= largest

    def keep(self, tensor, host):
        """`host`: a storage on the host of as many bytes as the tensor's, None: unknown."""
        storage = tensor.untyped_storage()
        self.hosts[storage._cdata] = self.weak(storage), storage.data_ptr(), host
        self.unwritten.discard(storage._cdata)
        self.since_sweep += 4096 + (host.nbytes() if host is not None else 0)
        if self.since_sweep > SWEPT_AFTER:
            self.hosts = {place: one for place, one in list(self.hosts.items())
                          if not one[0].expired()}
            self.unwritten &= self.hosts.keys()
            self.since_sweep = 0

    def forget(self, tensor):
        if tensor.is_cuda and tensor.layout is torch.strided and \
                (not is_fraction(tensor) or torch._C._storage_id(tensor) in self.hosts):
            self.keep(tensor, None)

    def host_of(self, tensor):
        known = self.hosts.get(torch._C._storage_id(tensor))
        if known is not None and not known[0].expired():
            host = known[2]
            if host is None:
                return None
            storage = tensor.untyped_storage()
            if storage.data_ptr() == known[1] and storage.nbytes() == host.nbytes():
                return host
            self.keep(tensor, None)  # it was resized
            return None
        if is_fraction(tensor) or not self.is_followed(tensor):
            return None
        host = self.uploaded(tensor)
        self.keep(tensor, host)
        return host

    def uploaded(self, tensor):
        """What went up before this began, if the simulator remembers it."""
        storage = tensor.untyped_storage()
        if storage.nbytes() > REMEMBERED or torch.cuda.is_current_stream_capturing():
            return None
        all_bytes = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
        answer_reads(1, 0)
        try:
            host = all_bytes.cpu().untyped_storage()
        finally:
            unknown = answer_reads(0, 0)
        return host if unknown is False else None

    def twin(self, tensor):
        host = self.host_of(tensor)
        return None if host is None else self.on(host, tensor)

    def on(self, host, tensor):
        return torch.empty(0, dtype=tensor.dtype, device=self.cpu).set_(
            host, tensor.storage_offset(), tensor.size(), tensor.stride())

    def learn(self, tensor, values, computed=False):
        """That the tensor, the only one on its storage, has these values."""
        if not self.is_followed(tensor, computed):
            return
        host = torch.UntypedStorage(tensor.untyped_storage().nbytes(), device=self.cpu)
        self.on(host, tensor).copy_(values)
        self.keep(tensor, host)

    # --- operators -------------------------------------------------------------------------------

    def handle(self, keys, facts, args, kwargs):
        tensors = []
        # A tensor of another class and a mode (compilers trace by one) have operators of their own.
        if torch._C._len_torch_dispatch_stack() != 0 or not collect(args, kwargs, tensors):
            return self.pass_on(facts, keys, args, kwargs)
        self.look(False)
        try:
            if facts.is_plain and self.is_unknown(tensors):
                result = self.pass_on(facts, keys, args, kwargs)
                for tensor in tensors_in(result):
                    self.forget(tensor)
                return result
            below = torch._C._AutoDispatchBelowAutograd()
            try:
                return self.run(facts, keys, args, kwargs, tensors)
            finally:
                del below
        finally:
            self.look(True)

    def pass_on(self, facts, keys, args, kwargs):
        if not any(type(args[place]) in NUMBERS for place in facts.tensors if place < len(args)):
            return facts.operator._handle.redispatch_boxed(keys, *args, **kwargs)
        # That takes no number in the place of a tensor; this begins from above.
        looked = torch._C._dispatch_tls_is_dispatch_key_included(self.key)
        self.look(False)
        try:
            return facts.operator(*args, **kwargs)
        finally:
            self.look(looked)

    def is_unknown(self, tensors):
        """Whether there are any, and all are fractions on the GPU that nobody knows: most operators."""
        for tensor in tensors:
            if not tensor.is_cuda or not is_fraction(tensor) or torch._C._storage_id(tensor) in self.hosts:
                return False
        return bool(tensors)

    def run(self, facts, keys, args, kwargs, tensors):
        def on_device():
            return self.pass_on(facts, keys, args, kwargs)

        on_gpu = [tensor for tensor in tensors if tensor.is_cuda]
        if not on_gpu and not is_for_gpu(kwargs):
            return on_device()
        twins = {}
        unknown = []
        for tensor in on_gpu:
            twin = self.twin(tensor)
            place = torch._C._storage_id(tensor)
            if twin is not None and place in self.unwritten:
                if any(tensor is one for one in facts.written(args, kwargs)):
                    self.unwritten.discard(place)
                else:
                    self.forget(tensor)
                    twin = None
            if twin is None:
                unknown.append(tensor)
            else:
                twins[id(tensor)] = twin
        if self.masks is not None and facts.reads_masks:
            self.choose_masks(unknown, twins)
        if facts.selects and unknown:
            return self.select(facts, on_device, args, twins)
        if unknown:
            # An operator may read what is known of what it is given (grouped_mm its offsets).
            for tensor in on_gpu:
                if id(tensor) in twins:
                    host = twins[id(tensor)].untyped_storage()
                    answer_from(tensor.untyped_storage().data_ptr(), host.data_ptr(), host.nbytes())
            if facts.checks_values:
                answer_reads(1, 1)
            if facts.has_unknown_size:
                name_reads(facts.name)
            try:
                result = on_device()
            finally:
                if twins or facts.checks_values:
                    answer_reads(0, 0)
                if facts.has_unknown_size:
                    name_reads("")
            self.see_unknown(facts, args, kwargs, result, unknown)
            return result
        return self.compute(facts, on_device, args, kwargs, twins)

    def compute(self, facts, on_device, args, kwargs, twins):
        """All that is given is known."""
        def on_host(twins):
            give = {**kwargs, "device": self.cpu} if "device" in kwargs else kwargs
            # A generator of the GPU has no twin.
            give = {name: value for name, value in give.items() if name != "generator"}
            if not facts.is_random:
                return facts.operator(*exchange(args, twins), **exchange(give, twins))
            # The program's own random numbers stay as they are.
            programs = torch.get_rng_state()
            torch.set_rng_state(self.random)
            try:
                return facts.operator(*exchange(args, twins), **exchange(give, twins))
            finally:
                self.random = torch.get_rng_state()
                torch.set_rng_state(programs)

        def attempt():
            # Some operators take whole numbers on the GPU alone (histc).
            fractions = None if facts.writes else lambda: on_host({
                name: twin if is_fraction(twin) else twin.double() for name, twin in twins.items()})
            return self.attempt(lambda: on_host(twins), fractions)

        if facts.is_random and not twins and not facts.makes_numbers(kwargs):
            return on_device()
        made = None
        size = 0
        if facts.selects:
            size = selected(args, twins) or 0
        elif facts.has_unknown_size:
            made = attempt()
            if made is None:
                return on_device()
            size = size_of(facts, made[0], twins, args)
        answer_reads(1, size)
        try:
            result = on_device()
        finally:
            answer_reads(0, 0)
        if facts.is_unwritten:
            self.learn_unwritten(result)
            return result
        if made is None and self.would_follow(result, bool(twins)):
            made = attempt()
        if made is None:
            for tensor in facts.written(args, kwargs):
                self.forget(tensor)
            return result
        return self.take_over(facts, result, made[0], args, kwargs, bool(twins))

    def learn_unwritten(self, tensor):
        if is_fraction(tensor):
            return
        self.learn(tensor, torch.zeros((), dtype=tensor.dtype, device=self.cpu))
        self.unwritten.add(torch._C._storage_id(tensor))

    def would_follow(self, result, computed):
        made = tensors_in(result)
        return not made or any(
            not tensor.is_cuda or self.is_followed(tensor, computed) for tensor in made)

    def attempt(self, compute, otherwise=None):
        """Its result, as the only one of a tuple; None: the host has no such operator."""
        try:
            return (compute(),)
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            if otherwise is None or "not implemented for" not in str(error):
                return None
            return self.attempt(otherwise)

    def take_over(self, facts, result, made, args, kwargs, computed):
        """The result on the device, and what it is on the host."""
        theirs, ours = tensors_in(result), tensors_in(made)
        if not theirs:
            return result if holds_tensors(result) else made  # of another layout, or a number
        written = facts.written(args, kwargs)
        for one, other in zip(theirs, ours):
            if one is other:
                continue
            if one.size() != other.size():
                self.forget(one)
            elif not one.is_cuda:
                if not any(one is tensor for tensor in written):
                    one.copy_(other)
            elif self.hosts.get(torch._C._storage_id(one), (None, None, None))[2] is None:
                self.learn(one, other, computed)
        return result

    def see_unknown(self, facts, args, kwargs, result, unknown):
        if facts.is_constant:
            made = tensors_in(result)[0]
            # Its own size and type, of an input without values.
            blank = torch.empty_strided(args[0].size(), args[0].stride(), dtype=args[0].dtype,
                                        device="meta")
            give = {**kwargs, "device": self.cpu}
            if facts.is_unwritten:
                self.learn_unwritten(made)
            elif not facts.is_random and self.is_followed(made):
                values = self.attempt(lambda: facts.operator(blank, *args[1:], **give))
                if values is not None:
                    self.learn(made, values[0])
            return
        if facts.fills and self.is_followed(args[0]) and covers(args[0]):
            values = args[1] if len(args) > 1 else 0
            if type(values) in (bool, int, float):
                self.learn(args[0], torch.full((), values, dtype=args[0].dtype, device="cpu"))
                return
        if facts.copies and self.is_followed(args[0]) and covers(args[0]):
            source = args[1] if not args[1].is_cuda else self.twin(args[1])
            if source is not None:
                self.learn(args[0], source)
                return
        if facts.name == "_is_all_true":
            self.learn(result, torch.ones((), dtype=torch.bool, device="cpu"))
            return
        for tensor in facts.written(args, kwargs):
            if tensor.is_cuda:
                self.forget(tensor)
        given = {torch._C._storage_id(tensor) for tensor in unknown}
        for tensor in tensors_in(result):
            if tensor.is_cuda and tensor.layout is torch.strided and \
                    torch._C._storage_id(tensor) not in given:
                self.forget(tensor)
        if facts.chooses and self.routing is not None:
            self.choose(facts, args, kwargs, result)

    # --- what is made up -------------------------------------------------------------------------

    def choose(self, facts, args, kwargs, result):
        values = args[0]
        found = tensors_in(result)
        if not found or found[-1].dtype is not torch.int64 or values.dim() == 0:
            return
        made = found[-1]
        dim = kwargs.get("dim", facts.dimension(args))
        if facts.name == "multinomial":
            dim = -1
        if dim is None:
            return  # one of all, as a number
        among = values.size(dim)
        if among == 0 or made.numel() == 0 or not covers(made):
            return
        keeps = made.dim() == values.dim()
        count = made.size(dim) if keeps else 1
        if facts.name in ("sort", "argsort"):
            chosen = torch.arange(count, device="cpu").expand(made.numel() // count, count)
        elif count > among:
            chosen = torch.zeros(made.numel() // count, count, dtype=torch.int64, device="cpu")
        else:
            chosen = self.routing.choose(made.numel() // count, among, count)
        if keeps:
            rows = made.movedim(dim, -1)
            chosen = chosen.reshape(rows.size()).movedim(-1, dim)
        else:
            chosen = chosen.reshape(made.size())
        self.learn(made, chosen)

    def choose_masks(self, unknown, twins):
        for tensor in [one for one in unknown if one.dtype is torch.bool and self.is_followed(one)]:
            every = torch.arange(tensor.untyped_storage().nbytes(), dtype=torch.float64, device="cpu")
            holds = ((every + 1) * self.masks).floor() > (every * self.masks).floor()
            host = holds.untyped_storage()
            self.keep(tensor, host)
            twins[id(tensor)] = self.on(host, tensor)
            unknown[:] = [one for one in unknown if one is not tensor]

    def select(self, facts, on_device, args, twins):
        """By a mask within an operator that may be given unknown values, too."""
        size = selected(args, twins)
        if size is not None:
            answer_reads(1, size)
        name_reads(facts.name)
        try:
            result = on_device()
        finally:
            answer_reads(0, 0)
            name_reads("")
        for tensor in tensors_in(result):
            self.forget(tensor)
        return result


def hide_files_of(*functions):
    """From the compiler: operators pass here within compiled calls, too."""
    files = [function.__code__.co_filename for function in functions]

    def hide(code):
        hide_where_possible(code)
        for constant in code.co_consts:
            if type(constant) is type(code):
                hide(constant)

    for value in list(globals().values()):
        for function in vars(value).values() if type(value) is type else (value,):
            code = getattr(function, "__code__", None)
            if code is not None and code.co_filename in files:
                hide(code)


def pass_argument_checks():
    """Whether what a network computed is a probability, or a deviation, nobody knows: zeros are none."""
    distribution = find(modules.get("torch.distributions.distribution"), "Distribution")
    if distribution is not None:
        distribution.set_default_validate_args(False)
    normal = torch.normal

    def draw(*args, **kwargs):
        answer_reads(1, 1)
        try:
            return normal(*args, **kwargs)
        finally:
            answer_reads(0, 0)

    modules["functools"].update_wrapper(draw, normal)
    torch.normal = draw


def choose_values():
    if answer_reads(0, 0) is None:
        return  # a real GPU
    environment = modules["os"].environ
    routing = environment.get("MEMTRACE_SIM_ROUTING")
    masks = environment.get("MEMTRACE_SIM_MASKS")
    if not routing and not masks:
        pass_argument_checks()
        return
    try:
        if modules["_thread"].get_ident() != modules["threading"].main_thread().ident:
            raise Without("the program's thread, because a tracer or profiler watches it")
        needed(torch, "_C._dispatch_key_parse")
        needed(torch, "library.Library.fallback")
        needed(modules["torch._ops"], "_HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS")
        needed(modules["torch._ops"], "_higher_order_ops")
        hide_files_of(named_operator, choose_values)
        ChosenValues(routing, masks).begin()
    except Exception as error:
        if is_the_programs(error):
            raise
        modules["sys"].stderr.write("memtrace: --routing and --masks have no effect here: %s\n" %
                                    reason_of(error))
        raise
