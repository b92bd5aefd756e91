#!/usr/bin/env python3
"""PyTorch's release wheel on simulated CUDA: what an application does with memory works."""

import os

os.environ.update(CAIRN_SIM_MEMORY=str(2**30), CAIRN_SIM_DEVICES="2", CAIRN_SIM_JUDGE="quiet",
                  CAIRN_SIM_QUERY_TICKS="0")

import argparse  # noqa: E402  (The machine is as the environment says when torch first uses it.)
import pathlib  # noqa: E402
import sys  # noqa: E402

if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()

import torch  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[2] / "src/simulator/libcuda"))
import simulated_cuda  # noqa: E402

MIB = 2**20


def active() -> int:
    return torch.cuda.memory_stats()["active_bytes.all.current"]


def main() -> None:
    assert torch.cuda.device_count() == 2
    tensor = torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    view = tensor[MIB:].view(3, MIB)
    assert view.data_ptr() == tensor.data_ptr() + MIB
    del tensor
    assert torch.cuda.memory_allocated() == 4 * MIB, "the view holds the memory"
    side = torch.cuda.Stream()
    simulated_cuda.launch(side.cuda_stream, 100)
    view.record_stream(side)
    del view
    assert torch.cuda.memory_allocated() == 0 and active() == 4 * MIB, "the side stream runs"
    simulated_cuda.advance(100)
    torch.empty(512, dtype=torch.uint8, device="cuda")
    assert active() == 0, "the side stream is done"
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0
    elsewhere = torch.empty(MIB, dtype=torch.uint8, device="cuda:1")
    snapshot = torch.cuda.memory_snapshot()
    assert [segment["device"] for segment in snapshot] == [1]
    assert elsewhere.data_ptr() == snapshot[0]["address"]
    try:
        torch.empty(2**31, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        assert "Tried to allocate 2.00 GiB" in str(error)
    else:
        raise AssertionError("2 GiB of 1 GiB were given")
    print(f"torch {torch.__version__}: views, frees, record_stream, streams, empty_cache, "
          "snapshots, two devices, out of memory")


if __name__ == "__main__":
    main()
