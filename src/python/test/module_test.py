"""The package without PyTorch: once over the simulated CUDA, and once where there is no driver.
Which of both is seen by the libcuda.so.1 that is found."""

import ctypes
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import cairn

sys.path.append(str(pathlib.Path(__file__).parents[2] / "simulator/libcuda"))
import simulated_cuda  # noqa: E402

MIB = 2**20

USED_TO_THE_END = """
import threading
import cairn

rounds = threading.Semaphore(0)

def use():
    while True:
        cairn.free(cairn.allocate(512))
        cairn.memory_stats()
        rounds.release()

for _ in range(4):
    threading.Thread(target=use, daemon=True).start()
for _ in range(200):
    rounds.acquire()
"""


class Everywhere(unittest.TestCase):
    def test_version_and_library_belong_together(self):
        library = ctypes.CDLL(cairn.library_path())
        library.cairn_version.restype = ctypes.c_char_p
        self.assertEqual(cairn.__version__, library.cairn_version().decode())

    def test_torch_is_not_imported(self):
        self.assertNotIn("torch", sys.modules)

    def test_every_function_says_what_it_does(self):
        for name in cairn.__all__:
            said = getattr(cairn, name).__doc__ or ""
            if said.startswith(f"{name}("):  # The signature, which pybind11 puts there anyway.
                said = said.partition("\n")[2]
            self.assertTrue(said.strip(), name)

    def test_failures_of_python_arguments_are_type_errors(self):
        for call in (lambda: cairn.allocate(-1), lambda: cairn.allocate("much"),
                     lambda: cairn.free(-5), lambda: cairn.memory_stats("0")):
            self.assertRaises(TypeError, call)


@unittest.skipIf(simulated_cuda.cuda, "there is a libcuda.so.1")
class WithoutADriver(unittest.TestCase):
    def test_all_that_needs_it_says_so(self):
        for call in (cairn.device_count, cairn.memory_stats, cairn.memory_summary,
                     cairn.empty_cache, lambda: cairn.allocate(512)):
            with self.assertRaisesRegex(cairn.Unsupported, "CUDA") as raised:
                call()
            self.assertEqual(raised.exception.code, "unsupported")


@unittest.skipUnless(simulated_cuda.is_there(), "libcuda.so.1 is not the simulated one")
class OverSimulatedCuda(unittest.TestCase):
    """The machine has two devices of 1 GiB."""

    def setUp(self):
        cairn.empty_cache()
        cairn.reset_peak_memory_stats()
        cairn.reset_accumulated_memory_stats()
        self.assertEqual(cairn.memory_reserved(), 0)

    def tearDown(self):  # What a test that failed has left would fail the others.
        cairn.set_memory_fraction(1)
        for segment in cairn.memory_map(0) + cairn.memory_map(1):
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    cairn.free(block["address"])

    def test_allocate_and_free(self):
        block = cairn.allocate(3 * MIB)
        self.assertEqual(cairn.memory_allocated(), 3 * MIB)
        self.assertEqual(cairn.memory_reserved(), 20 * MIB)
        self.assertEqual(cairn.memory_allocated(1), 0)
        cairn.free(block)
        self.assertEqual(cairn.memory_allocated(), 0)
        self.assertEqual(cairn.max_memory_allocated(), 3 * MIB)
        cairn.reset_peak_memory_stats()
        self.assertEqual(cairn.max_memory_allocated(), 0)
        self.assertEqual(cairn.max_memory_reserved(), 20 * MIB)
        self.assertEqual(cairn.allocate(0), 0)
        cairn.free(0)

    def test_it_is_the_one_default_allocator(self):
        library = ctypes.CDLL(cairn.library_path())
        library.cairn_torch_alloc.restype = ctypes.c_void_p
        block = library.cairn_torch_alloc(ctypes.c_ssize_t(MIB), 0, None)
        self.assertEqual(cairn.memory_allocated(), MIB)
        cairn.free(block)
        self.assertEqual(cairn.memory_allocated(), 0)

    def test_recorded_streams_delay_the_reuse(self):
        other = 2  # cudaStreamPerThread
        simulated_cuda.launch(other, 100)
        block = cairn.allocate(MIB)
        cairn.record_stream(block, other)
        cairn.free(block)
        waiting = [b["state"] for s in cairn.memory_snapshot(0) for b in s["blocks"]]
        self.assertIn("active_awaiting_free", waiting)
        self.assertEqual(cairn.memory_stats()["active_bytes.all.current"], MIB)
        self.assertIn("waits for other streams 1.00 MiB", cairn.memory_summary())
        simulated_cuda.advance(100)
        again = cairn.allocate(MIB)
        self.assertEqual(again, block)
        cairn.free(again)

    def test_out_of_memory_has_its_quantities(self):
        cairn.forget_last_out_of_memory()
        self.assertIsNone(cairn.last_out_of_memory())
        block = cairn.allocate(100 * MIB)
        cairn.set_memory_fraction(0.5)
        with self.assertRaises(cairn.OutOfMemory) as raised:
            cairn.allocate(500 * MIB + 1)
        cairn.set_memory_fraction(1)
        failure = raised.exception
        self.assertIsInstance(failure, (MemoryError, RuntimeError))
        self.assertEqual(failure.code, "out_of_memory")
        self.assertEqual(failure.device, 0)
        self.assertEqual(failure.requested_bytes, 500 * MIB + 1)
        self.assertEqual(failure.tried_bytes, 502 * MIB)
        self.assertEqual(failure.total_bytes, 1024 * MIB)
        self.assertEqual(failure.limit_bytes, 512 * MIB)
        self.assertEqual(failure.allocated_bytes, 100 * MIB)
        self.assertEqual(failure.reserved_bytes, 100 * MIB)
        self.assertIn("CUDA out of memory", str(failure))
        last = cairn.last_out_of_memory()
        self.assertEqual(str(last), str(failure))
        self.assertEqual(last.requested_bytes, 500 * MIB + 1)
        self.assertEqual(pickle.loads(pickle.dumps(failure)).tried_bytes, 502 * MIB)
        self.assertIn("out of memory 1 time,", cairn.memory_summary())
        cairn.free(block)

    def test_callers_mistakes(self):
        for call in (lambda: cairn.free(4096), lambda: cairn.record_stream(4096, 2),
                     lambda: cairn.allocate(512, device=7), lambda: cairn.memory_stats(7),
                     lambda: cairn.set_memory_fraction(2), lambda: cairn.forget_stream(0),
                     lambda: cairn.allocate(512, alignment_bytes=3),
                     lambda: cairn.reconfigure("max_split_size_mb:few")):
            with self.assertRaises(cairn.InvalidArgument) as raised:
                call()
            self.assertIsInstance(raised.exception, ValueError)
            self.assertEqual(raised.exception.code, "invalid_argument")
        with self.assertRaises(cairn.Unsupported):
            cairn.reconfigure("expandable_segments:True")

    def test_settings_change(self):
        cairn.reconfigure("max_split_size_mb:64")
        self.assertEqual(cairn.memory_stats()["max_split_size"], 64 * MIB)
        cairn.reconfigure("roundup_power2_divisions:1")
        self.assertEqual(cairn.memory_stats()["max_split_size"], -1)
        cairn.set_memory_fraction(0.25, 1)
        self.assertEqual((cairn.memory_fraction(), cairn.memory_fraction(1)), (1.0, 0.25))
        cairn.set_memory_fraction(1, 1)

    def test_maps_and_statistics_agree(self):
        blocks = [cairn.allocate(size, device) for size in (600, MIB, 30 * MIB)
                  for device in (0, 1)]
        for device in (0, 1):
            segments = cairn.memory_snapshot(device)
            stats = cairn.memory_stats(device)
            self.assertEqual({s["device"] for s in segments}, {device})
            for total, name in (("total_size", "reserved_bytes"),
                                ("allocated_size", "allocated_bytes"),
                                ("active_size", "active_bytes"),
                                ("requested_size", "requested_bytes")):
                self.assertEqual(sum(s[total] for s in segments),
                                 stats[f"{name}.all.current"], name)
            for segment in segments:
                self.assertEqual(sum(b["size"] for b in segment["blocks"]),
                                 segment["total_size"])
        self.assertEqual(len(cairn.memory_snapshot()), 4)
        for block in blocks:
            cairn.free(block)
        stats = cairn.memory_stats()
        self.assertEqual(stats["allocation.all.allocated"], stats["allocation.all.freed"])
        self.assertEqual(stats["num_device_alloc"], 2)

    def test_files_may_have_any_name(self):
        with tempfile.TemporaryDirectory(suffix=os.fsdecode(b"\xff")) as folder:
            with open(os.path.join(folder, "libcuda.so.1"), "wb") as file:
                file.write(b"no library")
            run = subprocess.run(
                [sys.executable, "-c", "import cairn; cairn.device_count()"], capture_output=True,
                env={**os.environ, "LD_LIBRARY_PATH": folder, "PYTHONIOENCODING": "ascii"})
        self.assertRegex(run.stderr.decode(), r"cairn\.errors\.Unsupported: .*\\xff/libcuda")

    def test_threads_that_run_at_the_end_of_the_process_do_no_harm(self):
        run = subprocess.run([sys.executable, "-c", USED_TO_THE_END], capture_output=True,
                             text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_threads(self):
        def work(stream):
            for size in range(1, 200):
                block = cairn.allocate(size * 5000, 0, stream)
                cairn.record_stream(block, 3 - stream)
                cairn.free(block)
                cairn.memory_stats()
        threads = [threading.Thread(target=work, args=(stream,)) for stream in (1, 2) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(cairn.memory_allocated(), 0)
        self.assertEqual(cairn.memory_stats()["allocation.all.allocated"], 4 * 199)


if __name__ == "__main__":
    unittest.main()
