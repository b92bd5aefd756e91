#include "python/errors.h"

#include <exception>
#include <optional>
#include <string>

namespace cairn::python {
namespace {

namespace py = pybind11;

const char* class_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
    case ErrorCode::rejected:
      return "OutOfMemory";
    case ErrorCode::invalid_argument:
      return "InvalidArgument";
    case ErrorCode::cuda_error:
      return "CudaError";
    case ErrorCode::unsupported:
      return "Unsupported";
    case ErrorCode::none:
    case ErrorCode::out_of_host_memory:
      break;
  }
  return "CairnError";
}

// A message may name a file, whose name can be any bytes.
py::object in_words(const std::string& message) {
  PyObject* const text = PyUnicode_DecodeUTF8(
      message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(text);
}

py::object number_or_none(const std::optional<std::uint64_t>& number) {
  if (!number) return py::none();
  return py::int_(*number);
}

// The names are those of MemoryReport.
py::dict quantities_of(const MemoryReport& report) {
  py::dict quantities;
  quantities["device"] = report.device;
  quantities["requested_bytes"] = report.requested_bytes;
  quantities["tried_bytes"] = report.tried_bytes;
  quantities["total_bytes"] = number_or_none(report.total_bytes);
  quantities["free_bytes"] = number_or_none(report.free_bytes);
  quantities["limit_bytes"] = number_or_none(report.limit_bytes);
  quantities["reserved_bytes"] = report.reserved_bytes();
  quantities["allocated_bytes"] = report.allocated_bytes;
  quantities["private_bytes"] = report.private_bytes;
  quantities["unallocated_bytes"] = report.unallocated_bytes;
  quantities["pending_bytes"] = report.pending_bytes;
  py::dict processes;
  for (const ProcessMemoryUse& process : report.processes) {
    processes[py::int_(process.pid)] = process.used_bytes;
  }
  quantities["processes"] = processes;
  return quantities;
}

void raise(const Error& error) {
  const py::object exception = exception_of(error);
  PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
}

}  // namespace

void translate_exceptions() {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the type that pybind11 takes.
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Exception& failure) {
      raise(failure.error());
    }
  });
}

py::object exception_of(const Error& error) {
  py::dict quantities;
  if (error.memory != nullptr) quantities = quantities_of(*error.memory);
  const py::object type = py::module_::import("cairn.errors").attr(class_of(error.code));
  return type(in_words(error.message), to_string(error.code), error.cuda_code, quantities);
}

}  // namespace cairn::python
