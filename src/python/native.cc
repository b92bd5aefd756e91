// The extension module cairn._native: default_allocator() and what PyTorch loads, for Python. The
// GIL is given up in each call of the allocator, which may wait for the GPU, or for a thread that
// waits for the GIL.
#include <dlfcn.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "cairn/allocator.h"
#include "cairn/cairn.h"
#include "cairn/plugins.h"
#include "python/errors.h"
#include "python/failures.h"
#include "python/report.h"
#include "python/without_gil.h"

namespace cairn::python {
namespace {

namespace py = pybind11;
using py::arg;
using Number = std::uintptr_t;  // A pointer, or a stream's handle, as Python has it.
using NoGil = py::call_guard<WithoutGil>;

void* pointer_of(Number number) { return reinterpret_cast<void*>(number); }
Stream stream_of(Number number) { return reinterpret_cast<Stream>(number); }
template <class Pointer>
Number number_of(Pointer pointer) {
  return reinterpret_cast<Number>(pointer);
}

Number allocate(std::size_t size_bytes, int device, Number stream, std::size_t alignment_bytes) {
  watch_failures();
  return number_of(
      default_allocator().allocate({size_bytes, device, stream_of(stream), alignment_bytes}));
}

void free(Number pointer) { default_allocator().free(pointer_of(pointer)); }

void record_stream(Number pointer, Number stream) {
  default_allocator().record_stream(pointer_of(pointer), stream_of(stream));
}

void forget_stream(Number stream, int device) {
  default_allocator().forget_stream(device, stream_of(stream));
}

py::dict memory_stats(int device) {
  const DeviceStats stats = [device] {
    const WithoutGil waiting;
    return default_allocator().stats(device);
  }();
  return to_python(stats);
}

py::list memory_map(int device) {
  const BlockMap map = [device] {
    const WithoutGil waiting;
    return default_allocator().block_map(device);
  }();
  return to_python(map);
}

py::object last_out_of_memory() {
  const Error failure = last_failure();
  if (!failure) return py::none();
  return exception_of(failure);
}

// The file that the functions which PyTorch is given are in. Whichever libcairn.so was loaded first
// under its name is meant by all who link it.
py::object library_path() {
  Dl_info place{};
  if (dladdr(pointer_of(number_of(&cairn_torch_alloc)), &place) == 0) {
    throw_error({ErrorCode::unsupported, 0, "It is not known where libcairn.so was loaded from"});
  }
  PyObject* const path = PyUnicode_DecodeFSDefault(place.dli_fname);
  if (path == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(path);
}

extern "C" void cairn_python_torch_init(int device_count) {
  cairn_torch_init(device_count);
  watch_failures();
}

py::dict torch_functions() {
  py::dict out;
  out["init"] = number_of(&cairn_python_torch_init);
  out["reset"] = number_of(&cairn_torch_reset);
  out["memory_fraction"] = number_of(&cairn_torch_memory_fraction);
  out["base_alloc"] = number_of(&cairn_torch_base_alloc);
  out["record_stream"] = number_of(&cairn_torch_record_stream);
  return out;
}

void define_memory(py::module_& module) {
  module.def("allocate", &allocate, arg("size_bytes"), arg("device") = 0, arg("stream") = 0,
             arg("alignment_bytes") = 512, NoGil(),
             "Hands out device memory of at least size_bytes for work on the stream (the number "
             "of its CUDA handle; 0 is the default stream), and gives its address. 0 bytes give "
             "0. Raises OutOfMemory, InvalidArgument, CudaError or Unsupported.");
  module.def("free", &free, arg("pointer"), NoGil(),
             "Takes back what allocate() gave; work on its stream may still use it. 0 does "
             "nothing. Raises InvalidArgument for anything but a live block's address.");
  module.def("record_stream", &record_stream, arg("pointer"), arg("stream"), NoGil(),
             "Says that work on another stream, one of the block's device, uses the block, so that "
             "after free() it is handed out again only when the work which is there by then is "
             "done. Raises InvalidArgument for anything but a live block's address.");
  module.def("forget_stream", &forget_stream, arg("stream"), arg("device") = 0, NoGil(),
             "Announces that the stream will be destroyed. Raises InvalidArgument for a default "
             "stream, CudaError when the driver fails.");
  module.def(
      "empty_cache", [] { default_allocator().empty_cache(); }, NoGil(),
      "Gives every segment without a live block back to the driver, on all devices, after "
      "waiting for the work that uses it. Raises CudaError when the driver refuses.");
}

void define_settings(py::module_& module) {
  module.def(
      "set_memory_fraction",
      [](double fraction, int device) {
        default_allocator().set_memory_fraction(device, fraction);
      },
      arg("fraction"), arg("device") = 0, NoGil(),
      "Limits what is held of the device to this part of its memory, from 0 to 1 (no limit); "
      "what is held already stays. Raises InvalidArgument for other numbers.");
  module.def(
      "memory_fraction", [](int device) { return default_allocator().memory_fraction(device); },
      arg("device") = 0, NoGil(),
      "The part of the device's memory that may be held, from 0 to 1. Raises InvalidArgument for "
      "a device that is not there.");
  module.def(
      "reconfigure", [](const std::string& text) { default_allocator().reconfigure(text); },
      arg("settings"), NoGil(),
      "Changes settings while the allocator works: text such as 'max_split_size_mb:128', over "
      "those of now, which came from the environment (CAIRN_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF "
      "or PYTORCH_ALLOC_CONF). Raises InvalidArgument for bad text, Unsupported for a setting "
      "that cannot change; then none has.");
}

void define_reports(py::module_& module) {
  module.def(
      "device_count", [] { return default_allocator().device_count(); }, NoGil(),
      "How many devices the CUDA driver has. Raises Unsupported or CudaError where it cannot be "
      "used.");
  module.def("memory_stats", &memory_stats, arg("device") = 0,
             "The device's statistics at one moment, under the names of "
             "torch.cuda.memory_stats(); bytes where the name says so, else counts. Raises "
             "InvalidArgument for a device that is not there.");
  module.def("memory_map", &memory_map, arg("device") = 0,
             "The device's segments in order of address, each with the blocks that tile it, as "
             "dicts with the names of torch.cuda.memory_snapshot(); sizes in bytes. Raises "
             "InvalidArgument for a device that is not there.");
  module.def(
      "reset_peak_memory_stats", [](int device) { default_allocator().reset_peak_stats(device); },
      arg("device") = 0, NoGil(),
      "Lets peaks begin anew from what is current. Raises InvalidArgument for a device that is "
      "not there.");
  module.def(
      "reset_accumulated_memory_stats",
      [](int device) { default_allocator().reset_accumulated_stats(device); }, arg("device") = 0,
      NoGil(),
      "Lets accumulated counts begin anew from 0. Raises InvalidArgument for a device that is "
      "not there.");
  module.def("last_out_of_memory", &last_out_of_memory,
             "The last failure for want of memory, of any thread, as an OutOfMemory that is not "
             "raised; None where there was none. PyTorch keeps only its words.");
  module.def("forget_last_out_of_memory", &forget_last_failure, NoGil(),
             "Lets last_out_of_memory() give None until the next one.");
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "Cairn's default allocator, for the package cairn.";
  translate_exceptions();
  define_memory(module);
  define_settings(module);
  define_reports(module);
  module.def("version", &cairn_version, "Cairn's version.");
  module.def("library_path", &library_path, "The file of libcairn.so that is in use.");
  module.def("torch_functions", &torch_functions,
             "Addresses of what PyTorch is given beside alloc and free.");
}

}  // namespace cairn::python
