#!/usr/bin/env python3
"""PyTorch's release wheel without its own caching, under libcairn_preload.so: its cudaMalloc and
cudaFree are served. What was done is in the library's report."""

import os

os.environ.update(PYTORCH_NO_CUDA_MEMORY_CACHING="1", CAIRN_SIM_MEMORY=str(2**30))

import pathlib  # noqa: E402  (The machine is as the environment says when torch first uses it.)
import sys  # noqa: E402

import torch  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[2] / "simulator/libcuda"))
import simulated_cuda  # noqa: E402

MIB = 2**20
ROUNDS = 100


def main() -> None:
    for _ in range(ROUNDS):
        tensor = torch.zeros(4 * MIB, dtype=torch.uint8, device="cuda")
        side = tensor[MIB:].clone()
        del tensor, side
    held = [torch.empty(MIB, dtype=torch.uint8, device="cuda") for _ in range(8)]
    addresses = {tensor.data_ptr() for tensor in held}
    assert len(addresses) == 8
    del held
    again = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    assert again.data_ptr() in addresses, "what was freed is handed out again"
    free, total = torch.cuda.mem_get_info()
    assert total == 2**30 and total - free < 64 * MIB, "what is cached is said to be free"
    try:
        torch.empty(2**31, dtype=torch.uint8, device="cuda")
    except RuntimeError as error:
        assert "out of memory" in str(error)
    else:
        raise AssertionError("2 GiB of 1 GiB were given")
    torch.zeros(MIB, dtype=torch.uint8, device="cuda")
    assert simulated_cuda.violations() == [], simulated_cuda.violations()
    print(f"torch {torch.__version__} without caching: {ROUNDS} rounds served")


if __name__ == "__main__":
    main()
