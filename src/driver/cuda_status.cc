// The codes and names of CUresult as CUDA 13.0 has them.
#include "driver/cuda_status.h"

#include <algorithm>
#include <array>

namespace cairn {
namespace {

struct NamedStatus {
  int code;
  std::string_view name;
};

// In order of code.
constexpr std::array statuses = std::to_array<NamedStatus>({
    {0, "success"},
    {1, "invalid_value"},
    {2, "out_of_memory"},
    {3, "not_initialized"},
    {4, "deinitialized"},
    {5, "profiler_disabled"},
    {6, "profiler_not_initialized"},
    {7, "profiler_already_started"},
    {8, "profiler_already_stopped"},
    {34, "stub_library"},
    {36, "call_requires_newer_driver"},
    {46, "device_unavailable"},
    {100, "no_device"},
    {101, "invalid_device"},
    {102, "device_not_licensed"},
    {200, "invalid_image"},
    {201, "invalid_context"},
    {202, "context_already_current"},
    {205, "map_failed"},
    {206, "unmap_failed"},
    {207, "array_is_mapped"},
    {208, "already_mapped"},
    {209, "no_binary_for_gpu"},
    {210, "already_acquired"},
    {211, "not_mapped"},
    {212, "not_mapped_as_array"},
    {213, "not_mapped_as_pointer"},
    {214, "ecc_uncorrectable"},
    {215, "unsupported_limit"},
    {216, "context_already_in_use"},
    {217, "peer_access_unsupported"},
    {218, "invalid_ptx"},
    {219, "invalid_graphics_context"},
    {220, "nvlink_uncorrectable"},
    {221, "jit_compiler_not_found"},
    {222, "unsupported_ptx_version"},
    {223, "jit_compilation_disabled"},
    {224, "unsupported_exec_affinity"},
    {225, "unsupported_devside_sync"},
    {226, "contained"},
    {300, "invalid_source"},
    {301, "file_not_found"},
    {302, "shared_object_symbol_not_found"},
    {303, "shared_object_init_failed"},
    {304, "operating_system"},
    {400, "invalid_handle"},
    {401, "illegal_state"},
    {402, "lossy_query"},
    {500, "not_found"},
    {600, "not_ready"},
    {700, "illegal_address"},
    {701, "launch_out_of_resources"},
    {702, "launch_timeout"},
    {703, "launch_incompatible_texturing"},
    {704, "peer_access_already_enabled"},
    {705, "peer_access_not_enabled"},
    {708, "primary_context_active"},
    {709, "context_is_destroyed"},
    {710, "assert"},
    {711, "too_many_peers"},
    {712, "host_memory_already_registered"},
    {713, "host_memory_not_registered"},
    {714, "hardware_stack_error"},
    {715, "illegal_instruction"},
    {716, "misaligned_address"},
    {717, "invalid_address_space"},
    {718, "invalid_pc"},
    {719, "launch_failed"},
    {720, "cooperative_launch_too_large"},
    {721, "tensor_memory_leak"},
    {800, "not_permitted"},
    {801, "not_supported"},
    {802, "system_not_ready"},
    {803, "system_driver_mismatch"},
    {804, "compat_not_supported_on_device"},
    {805, "mps_connection_failed"},
    {806, "mps_rpc_failure"},
    {807, "mps_server_not_ready"},
    {808, "mps_max_clients_reached"},
    {809, "mps_max_connections_reached"},
    {810, "mps_client_terminated"},
    {811, "cdp_not_supported"},
    {812, "cdp_version_mismatch"},
    {900, "stream_capture_unsupported"},
    {901, "stream_capture_invalidated"},
    {902, "stream_capture_merge"},
    {903, "stream_capture_unmatched"},
    {904, "stream_capture_unjoined"},
    {905, "stream_capture_isolation"},
    {906, "stream_capture_implicit"},
    {907, "captured_event"},
    {908, "stream_capture_wrong_thread"},
    {909, "timeout"},
    {910, "graph_exec_update_failure"},
    {911, "external_device"},
    {912, "invalid_cluster_size"},
    {913, "function_not_loaded"},
    {914, "invalid_resource_type"},
    {915, "invalid_resource_configuration"},
    {916, "key_rotation"},
    {999, "unknown"},
});

static_assert(std::ranges::is_sorted(statuses, {}, &NamedStatus::code));

constexpr std::array sticky_codes = {201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716,
                                     717, 718, 719, 721, 805, 806, 807, 808, 809, 810, 911};

}  // namespace

std::string_view to_string(CudaStatus status) {
  const int code = static_cast<int>(status);
  const auto found = std::ranges::lower_bound(statuses, code, {}, &NamedStatus::code);
  return found != statuses.end() && found->code == code ? found->name : "unrecognized";
}

std::optional<CudaStatus> cuda_status_from(std::string_view name) {
  if (name == "unsupported") return CudaStatus::not_supported;
  const auto found = std::ranges::find(statuses, name, &NamedStatus::name);
  if (found == statuses.end()) return std::nullopt;
  return static_cast<CudaStatus>(found->code);
}

bool is_sticky(CudaStatus status) {
  return std::ranges::find(sticky_codes, static_cast<int>(status)) != sticky_codes.end();
}

}  // namespace cairn
