#include "testing/documented_errors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "driver/cuda_errors.h"
#include "invariants/model/cuda_codes.h"

namespace cairn::testing {
namespace {

// As CudaDriver calls them.
constexpr std::array functions = std::to_array<std::pair<DriverCall, std::string_view>>({
    {DriverCall::malloc, "cuMemAlloc"},
    {DriverCall::free, "cuMemFree"},
    {DriverCall::mem_info, "cuMemGetInfo"},
    {DriverCall::event_create, "cuEventCreate"},
    {DriverCall::event_record, "cuEventRecord"},
    {DriverCall::event_query, "cuEventQuery"},
    {DriverCall::event_sync, "cuEventSynchronize"},
    {DriverCall::event_destroy, "cuEventDestroy"},
    {DriverCall::ctx_record, "cuCtxRecordEvent"},
    {DriverCall::stream_sync, "cuStreamSynchronize"},
    {DriverCall::device_sync, "cuCtxSynchronize"},
    {DriverCall::stream_ctx, "cuStreamGetCtx"},
    {DriverCall::stream_id, "cuStreamGetId"},
});

void add(std::vector<DocumentedError>& errors, int code, ErrorSource source) {
  const auto status = static_cast<CudaStatus>(code);
  const bool is_known = std::ranges::find(errors, status, &DocumentedError::status) != errors.end();
  if (status != CudaStatus::success && !is_known) errors.push_back({status, source});
}

void add_all(std::vector<DocumentedError>& errors, const CudaFunction& function,
             ErrorSource source) {
  for (const int code : function.codes) add(errors, code, source);
}

void add_earlier_work(std::vector<DocumentedError>& errors) {
  constexpr int past_all_codes = 1000;
  for (int code = 1; code < past_all_codes; ++code) {
    if (loses_device(static_cast<CudaStatus>(code))) add(errors, code, ErrorSource::earlier_work);
  }
}

}  // namespace

bool loses_device(CudaStatus status) {
  const int code = static_cast<int>(status);
  return is_sticky(status) || model::is_sticky_code(code) ||
         std::ranges::find(codes_that_end_the_process, code) != codes_that_end_the_process.end();
}

const std::vector<DriverCall>& calls_of_a_driver() {
  static const auto calls = [] {
    std::vector<DriverCall> all;
    for (const auto& [call, name] : functions) all.push_back(call);
    return all;
  }();
  return calls;
}

std::vector<DocumentedError> documented_errors(DriverCall call) {
  const auto* const named =
      std::ranges::find(functions, call, &std::pair<DriverCall, std::string_view>::first);
  if (named == functions.end()) return {};
  const auto* const function =
      std::ranges::find(cuda_functions, named->second, &CudaFunction::name);
  std::vector<DocumentedError> errors;
  add_all(errors, *function, ErrorSource::own);
  if (call == DriverCall::ctx_record) {  // Before CUDA 12.5 there is no such function.
    add(errors, static_cast<int>(CudaStatus::not_supported), ErrorSource::driver);
  }
  for (const CudaFunction& before : cuda_context_functions) {
    add_all(errors, before, ErrorSource::context);
  }
  // Those that make the context current tell of it, so that every call does.
  add_earlier_work(errors);
  return errors;
}

}  // namespace cairn::testing
