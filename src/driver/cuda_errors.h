// What each function of the driver that Cairn calls may fail with, as documented by
// cuda.h of CUDA 13.0. Made by ci/driver_errors --write, not by hand.
#pragma once

#include <array>
#include <string_view>

#include "driver/cuda_status.h"

namespace cairn {

struct CudaFunction {
  std::string_view name;
  bool tells_of_earlier_work;  // "may also return error codes from previous, asynchronous launches"
  std::array<int, 8> codes;    // As documented; the rest is 0.
};

// A not_ready is left out: it is an answer.
inline constexpr std::array cuda_functions = std::to_array<CudaFunction>({
    {"cuMemAlloc", true, {4, 3, 201, 1, 2}},
    {"cuMemFree", true, {4, 3, 201, 1}},
    {"cuMemGetInfo", true, {4, 3, 201, 1}},
    {"cuEventCreate", true, {4, 3, 201, 1, 2}},
    {"cuEventRecord", true, {4, 3, 201, 400, 1}},
    {"cuEventQuery", true, {4, 3, 400, 1}},
    {"cuEventSynchronize", true, {4, 3, 201, 400}},
    {"cuEventDestroy", true, {4, 3, 201, 400}},
    {"cuCtxRecordEvent", false, {4, 3, 201, 400, 900}},
    {"cuStreamSynchronize", true, {4, 3, 201, 400}},
    {"cuCtxSynchronize", true, {4, 3, 201}},
    {"cuStreamGetCtx", true, {4, 3, 201, 400, 801}},
    {"cuStreamGetId", true, {1, 400}},
});

// What comes before, so that the context is current.
inline constexpr std::array cuda_context_functions = std::to_array<CudaFunction>({
    {"cuDevicePrimaryCtxRetain", true, {4, 3, 201, 101, 1, 2, 999}},
    {"cuCtxGetCurrent", true, {4, 3}},
    {"cuCtxPushCurrent", true, {4, 3, 201, 1}},
});

// The codes of which cuda.h says that "the process must be terminated", or that
// "the context cannot be used anymore".
inline constexpr std::array codes_that_end_the_process = {226, 700, 702, 710, 714, 715, 716,
                                                          717, 718, 719, 721, 810, 911};

}  // namespace cairn
