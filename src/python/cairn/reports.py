"""Totals of a device, and a summary of them in words. From any thread; bytes throughout."""

from __future__ import annotations

from ._native import device_count, memory_fraction, memory_map, memory_stats

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def memory_allocated(device: int = 0) -> int:
    """Bytes of the blocks that are handed out. Raises InvalidArgument for a device not there."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: int = 0) -> int:
    """The most that memory_allocated() was since reset_peak_memory_stats(). Raises as that."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: int = 0) -> int:
    """Bytes held from the driver. Raises InvalidArgument for a device that is not there."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: int = 0) -> int:
    """The most that memory_reserved() was since reset_peak_memory_stats(). Raises as that."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def memory_snapshot(device: int | None = None) -> list[dict]:
    """The map of a device (None: of every device): see memory_map(). Raises InvalidArgument for a
    device that is not there."""
    devices = range(device_count()) if device is None else [device]
    return [segment for each in devices for segment in memory_map(each)]


def memory_summary(device: int = 0) -> str:
    """What the device's memory is used for, in words, a fact a line. Raises InvalidArgument for a
    device that is not there."""
    stats = memory_stats(device)
    free = [block["size"] for segment in memory_map(device) for block in segment["blocks"]
            if block["state"] == "inactive"]

    def now_and_peak(name: str) -> str:
        now, peak = (stats[f"{name}.all.{kind}"] for kind in ("current", "peak"))
        return f"{_in_words(now)} (at most {_in_words(peak)})"

    waiting = stats["active_bytes.all.current"] - stats["allocated_bytes.all.current"]
    lines = [
        f"Cairn, device {device}, of which {memory_fraction(device):.0%} may be held:",
        f"  held from the driver {now_and_peak('reserved_bytes')}, "
        f"in {_counted(stats['segment.all.current'], 'segment')}",
        f"  handed out {now_and_peak('allocated_bytes')}, "
        f"in {_counted(stats['allocation.all.current'], 'block')}; "
        f"asked for, with what waits, {now_and_peak('requested_bytes')}",
        f"  freed, waits for other streams {_in_words(waiting)}",
        f"  free {_in_words(sum(free))}, in {_counted(len(free), 'block')}, "
        f"the largest {_in_words(max(free, default=0))}",
        f"  driver calls: {_counted(stats['num_device_alloc'], 'allocation')}, "
        f"{_counted(stats['num_device_free'], 'free')}",
        f"  out of memory {_counted(stats['num_ooms'], 'time')}, "
        f"tried again after giving the cache back {_counted(stats['num_alloc_retries'], 'time')}",
    ]
    return "\n".join(lines)


def _in_words(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
