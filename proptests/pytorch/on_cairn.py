#!/usr/bin/env python3
"""PyTorch's wheel on Cairn, on the simulated CUDA: one story a process, which says what it saw.

on_cairn_test.py runs all of them.
"""

import argparse
import os
import threading

os.environ.setdefault("CAIRN_SIM_MEMORY", str(2**30))
os.environ.update(CAIRN_SIM_DEVICES="2", CAIRN_SIM_JUDGE="quiet", CAIRN_SIM_QUERY_TICKS="0")

import torch  # noqa: E402  (The machine is as the environment says when torch first uses it.)

import cairn  # noqa: E402
import judge  # noqa: E402

MIB = 2**20


def mib(count: float, device="cuda") -> torch.Tensor:
    return torch.empty(int(count * MIB), dtype=torch.uint8, device=device)


def active() -> int:
    return cairn.memory_stats()["active_bytes.all.current"]


def blocks_of(segment: dict) -> list[tuple]:
    """PyTorch leaves in a free block what was asked for it before."""
    return [(block["size"], block["state"],
             block["requested_size"] if block["state"] == "active_allocated" else 0)
            for block in segment["blocks"]]


def same(found, wanted, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def application() -> None:
    """Tensors, views, frees, a side stream, empty_cache, two devices."""
    same(cairn.use_in_pytorch() is cairn.use_in_pytorch(), True, "called twice it is the same")
    tensor = mib(4)
    view = tensor[MIB:].view(3, MIB)
    del tensor
    same(cairn.memory_allocated(), 4 * MIB, "the view holds the memory")
    side = torch.cuda.Stream()
    judge.simulated_cuda.launch(side.cuda_stream, 100)
    address = view.untyped_storage().data_ptr()
    view.record_stream(side)
    del view
    same((cairn.memory_allocated(), active()), (0, 4 * MIB), "the side stream runs")
    other = mib(4)
    same(other.data_ptr() != address, True, "and its memory is not handed out")
    judge.simulated_cuda.advance(100)
    del other
    again = [mib(4), mib(4)]
    same(address in [tensor.data_ptr() for tensor in again], True, "the side stream is done")
    with torch.cuda.stream(side):
        own = mib(4)
    segment, = [s for s in cairn.memory_snapshot(0) if s["stream"] == side.cuda_stream]
    same(segment["address"], own.data_ptr(), "memory is of the stream that is current")
    del again, own
    same(cairn.memory_allocated(), 0, "all is freed")
    same(cairn.memory_reserved(), 40 * MIB, "and held")
    torch.cuda.empty_cache()
    same(cairn.memory_reserved(), 0, "until empty_cache")
    elsewhere = mib(1, "cuda:1")
    same([s["device"] for s in cairn.memory_snapshot()], [1], "the second device")
    same(elsewhere.data_ptr(), cairn.memory_snapshot(1)[0]["address"], "its tensor")
    print("views, frees, record_stream, the stream's own memory, empty_cache, two devices")


def out_of_memory() -> None:
    """Which exception it is, what it says, and that the process goes on."""
    cairn.use_in_pytorch()
    held = [mib(200) for _ in range(4)]
    try:
        mib(300)
    except torch.cuda.OutOfMemoryError as error:
        raise AssertionError("a plugged allocator raised torch.OutOfMemoryError") from error
    except RuntimeError as error:
        raised, message = type(error).__name__, str(error)
    else:
        raise AssertionError("300 MiB of 224 were given")
    same("CUDA out of memory. Tried to allocate 300.00 MiB" in message, True, message)
    failure = cairn.last_out_of_memory()
    same(str(failure) in message, True, f"{failure} in {message}")
    same((failure.requested_bytes, failure.allocated_bytes, failure.total_bytes,
          failure.free_bytes), (300 * MIB, 800 * MIB, 1024 * MIB, 224 * MIB), "quantities")
    same(cairn.memory_stats()["num_ooms"], 1, "counted")
    del held[:2]
    same(mib(300).numel(), 300 * MIB, "after two tensors are gone there is room")
    torch.cuda.set_per_process_memory_fraction(0.5)
    same(cairn.memory_fraction(), 0.5, "PyTorch's limit is Cairn's")
    try:
        mib(310)
    except RuntimeError:
        same(cairn.last_out_of_memory().limit_bytes, 512 * MIB, "the limit")
    else:
        raise AssertionError("the limit did nothing")
    torch.cuda.set_per_process_memory_fraction(1.0)
    same(mib(310).numel(), 310 * MIB, "without the limit there is room")
    print(f"{raised}: {message.splitlines()[0]}")


def statistics() -> None:
    """Cairn's statistics beside PyTorch's own allocator, which is asked for the same."""
    tensors = [mib(size) for size in (0.5, 3, 30, 0.001)]
    blocks = [cairn.allocate(tensor.numel()) for tensor in tensors]
    del tensors[1]
    cairn.free(blocks[1])
    theirs, ours = torch.cuda.memory_stats(), cairn.memory_stats()
    same(sorted(ours), sorted(theirs), "names")
    differing = {name: (theirs[name], ours[name]) for name in ours if ours[name] != theirs[name]}
    same(differing, {}, "PyTorch's and Cairn's statistics")
    drop = ("address", "blocks", "frames")
    theirs, ours = torch.cuda.memory_snapshot(), cairn.memory_snapshot(0)
    for mine, other in zip(ours, theirs):
        same({k: v for k, v in mine.items() if k not in drop},
             {k: v for k, v in other.items() if k not in drop}, "a segment")
        same(blocks_of(mine), blocks_of(other), "blocks")
    same(len(ours), len(theirs), "segments")
    print(f"{len(cairn.memory_stats())} statistics and {len(ours)} segments, word for word")


def refusals() -> None:
    """What PyTorch's own functions say of a plugged allocator; and a swap that comes too late."""
    cairn.use_in_pytorch()
    tensor = mib(1)
    for function in (torch.cuda.memory_stats, torch.cuda.memory_allocated,
                     torch.cuda.memory_snapshot, torch.cuda.reset_peak_memory_stats):
        try:
            function()
        except RuntimeError as error:
            same("does not yet support" in str(error), True, str(error))
        else:
            raise AssertionError(f"{function.__name__} works")
    print(cairn.memory_summary())
    del tensor


def too_late() -> None:
    tensor = mib(1)
    try:
        cairn.use_in_pytorch()
    except RuntimeError as error:
        same("must be called before PyTorch first uses a GPU" in str(error), True, str(error))
        print(f"RuntimeError: {error}")
    else:
        raise AssertionError("the allocator was changed under a tensor")
    same(tensor.data_ptr() != 0, True, "the tensor lives")


def pool() -> None:
    """A MemPool of PyTorch's own allocator, whose segments are Cairn's."""
    plain = mib(1)
    allocator = cairn.pytorch_allocator()
    pooled = torch.cuda.MemPool(allocator.allocator())
    with torch.cuda.use_mem_pool(pooled):
        small, large, huge = mib(0.25), mib(3), mib(50)
    same(cairn.memory_allocated(), (2 + 20 + 50) * MIB, "segments that Cairn handed out")
    same(cairn.memory_stats()["allocation.all.current"], 3, "three of them")
    starts = {b["address"] for s in cairn.memory_snapshot(0) for b in s["blocks"]
              if b["state"] == "active_allocated"}
    same({small.data_ptr(), large.data_ptr(), huge.data_ptr()}, starts, "tensors begin there")
    same(plain.data_ptr() in starts, False, "what is outside of the pool is not Cairn's")
    cairn.set_memory_fraction(0.25)
    try:
        with torch.cuda.use_mem_pool(pooled):
            mib(400)
    except RuntimeError as error:
        said = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    else:
        raise AssertionError("the limit did nothing")
    cairn.set_memory_fraction(1)
    del small, large, huge
    with torch.cuda.use_mem_pool(pooled):
        again = mib(50)
    same(again.data_ptr() in starts, True, "the pool serves again after the failure")
    del again
    del pooled
    torch.cuda.empty_cache()
    same(cairn.memory_allocated(), 0, "all segments came back to Cairn")
    cairn.empty_cache()
    same(cairn.memory_reserved(), 0, "and from Cairn to the driver")
    print(f"segments of 2, 20 and 50 MiB are Cairn's; out of memory in the pool: {said}")


def side_streams(hook: bool = True, told: bool = True) -> None:
    """Work on a side stream, and memory that it uses, freed and asked for again at once."""
    judged = judge.JudgedCairn()
    judged.use_in_pytorch(hook)
    with judge.Telling(judged):
        side = torch.cuda.Stream()
        for size in (1, 3, 30):
            batch = torch.ones(size * MIB // 4, device="cuda")
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                batch * 2  # pylint: disable=expression-not-assigned
            if told:
                batch.record_stream(side)
            del batch
            torch.zeros(size * MIB // 4, device="cuda")
    print(f"{len(judge.violations())} violations, {len(judge.mistakes())} mistakes")
    for line in (judge.violations() + judge.mistakes())[:1]:
        print(line)


def without_the_hook() -> None:
    side_streams(hook=False)


def without_record_stream() -> None:
    side_streams(told=False)


def threads() -> None:
    """Threads with streams of their own, and tensors that go from one to the next."""
    judged = judge.JudgedCairn()
    judged.use_in_pytorch()
    streams = [torch.cuda.Stream() for _ in range(3)]
    shared: list[torch.Tensor] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        with judge.Telling(judged), torch.cuda.stream(streams[number]):
            for round_ in range(100):
                tensor = torch.ones((round_ % 7 + 1) * 50_000, device="cuda")
                ready = torch.cuda.Event()
                ready.record()
                with lock:
                    shared.append((tensor, ready))
                    used, ready = shared.pop(0) if len(shared) > 3 else (tensor, ready)
                streams[number].wait_event(ready)
                used.add_(1)
                used.record_stream(streams[number])
                del tensor, used

    running = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    shared.clear()
    same(judge.violations(), [], "violations")
    same(judge.mistakes(), [], "mistakes")
    same(cairn.memory_allocated(), 0, "all is freed")
    stats = cairn.memory_stats()
    print(f"{stats['allocation.all.allocated']} allocations of 3 threads, "
          f"{stats['num_device_alloc']} of them by the driver")


STORIES = {story.__name__: story for story in (
    application, out_of_memory, statistics, refusals, too_late, pool, side_streams,
    without_the_hook, without_record_stream, threads)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("story", choices=STORIES)
    STORIES[parser.parse_args().story]()
