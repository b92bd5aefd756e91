"""The kernels of operations, for traces whose streams are to be judged on the simulated GPU."""

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten

# They only allocate.
CREATORS = {
    aten.empty, aten.empty_like, aten.empty_strided, aten.new_empty, aten.new_empty_strided,
}

# A tick is a microsecond. A kernel takes 2 and reads and writes 2 TB/s besides; the host needs 10
# to launch one. Time passes in steps of 100, to keep the trace short.
KERNEL_TICKS = 2
KERNEL_BYTES_PER_TICK = 2_000_000
HOST_TICKS = 10
ADVANCE_TICKS = 100


def cuda_tensors(tree):
    for leaf in tree_leaves(tree):
        if isinstance(leaf, FakeTensor) and leaf.device.type == "cuda":
            yield leaf


class Kernels:
    """Makes `launch` lines of operations, and lets virtual time pass."""

    def __init__(self):
        self.host_ticks = 0

    def touched(self, func, args, kwargs, result):
        """Addresses of the storages that the operation writes, and of those that it reads.

        It writes what it changes in place and what it returns, unless that is a view.
        """
        written, read = {}, {}  # Dictionaries keep the order.
        for place, argument in enumerate(func._schema.arguments):
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            changes = argument.alias_info is not None and argument.alias_info.is_write
            for tensor in cuda_tensors(value):
                (written if changes else read)[tensor.untyped_storage()._cdata] = None
        for tensor in cuda_tensors(result):
            key = tensor.untyped_storage()._cdata
            if key not in read:
                written[key] = None
        if func.overloadpacket in CREATORS:
            written.clear()
        return list(written), [key for key in read if key not in written]

    def lines(self, stream, touched, live):
        """What to say of a kernel: nothing if it writes nothing, as that of a view."""
        written, read = ([live[key] for key in keys if key in live] for keys in touched)
        if not written:
            return
        touches = [f"t{number}" for number, *_ in written]
        touches += [f"t{number}:r" for number, *_ in read]
        size_bytes = sum(size_bytes for _, size_bytes, _ in written + read)
        ticks = KERNEL_TICKS + size_bytes // KERNEL_BYTES_PER_TICK
        yield f"launch {stream} {','.join(touches)} {ticks}"
        self.host_ticks += HOST_TICKS
        if self.host_ticks == ADVANCE_TICKS:
            self.host_ticks = 0
            yield f"advance {ADVANCE_TICKS}"
