#include "simulator/libcudart/properties.h"

#include <cstring>

#include "simulator/libcudart/runtime.h"

namespace cairn::simulator::runtime {
namespace {

// A field with the value of an attribute.
struct Field {
  std::size_t in_12;  // Where it begins. The layout of CUDA 11 is the beginning of that of 12.
  std::size_t in_13;
  std::size_t size;  // 4 or 8.
  CUdevice_attribute value;
};

constexpr std::size_t absent = ~std::size_t{0};
constexpr std::size_t sizes[] = {728, 1032, 1008};

constexpr std::size_t uuid_at = 256;  // Up to totalConstMem all layouts are alike but for one.
constexpr std::size_t total_memory_at = 288;

constexpr Field fields[] = {
    {296, 296, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {304, 304, 4, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {308, 308, 4, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {312, 312, 8, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {320, 320, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {324, 324, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {328, 328, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {332, 332, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {336, 336, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {340, 340, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {344, 344, 4, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
    {348, absent, 4, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {352, 352, 8, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {360, 360, 4, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {364, 364, 4, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {368, 368, 8, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {376, 376, 8, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {388, 384, 4, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {396, 388, 4, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {400, 392, 4, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {568, 552, 8, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
    {576, 560, 4, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {584, 568, 4, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {600, 584, 4, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {604, 588, 4, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {608, absent, 4, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {612, 592, 4, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {616, 596, 4, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {624, 604, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {628, 608, 4, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {632, 612, 4, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {636, 616, 4, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {640, 624, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {648, 632, 4, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {652, 636, 4, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {688, 668, 4, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {696, 672, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {712, 688, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {720, 696, 8, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {728, 704, 4, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {744, 720, 4, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
};

void fill_fields(char* to, int device, PropertyLayout layout) {
  for (const Field& field : fields) {
    const std::size_t at = layout == PropertyLayout::cuda_13 ? field.in_13 : field.in_12;
    if (at == absent || at + field.size > size_of(layout)) continue;
    int value = 0;
    cuDeviceGetAttribute(&value, field.value, device);
    const auto wide = static_cast<std::size_t>(value);
    std::memcpy(to + at, &wide, field.size);  // The lowest bytes come first.
  }
}

}  // namespace

std::size_t size_of(PropertyLayout layout) { return sizes[static_cast<int>(layout)]; }

int get_properties(void* properties, int device, PropertyLayout layout) {
  return call([&] {
    std::size_t total = 0;
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult bad = cuDeviceTotalMem(&total, device)) return bad;
    auto* const to = static_cast<char*>(properties);
    std::memset(to, 0, size_of(layout));
    cuDeviceGetName(to, uuid_at, device);
    CUuuid uuid;
    cuDeviceGetUuid_v2(&uuid, device);
    std::memcpy(to + uuid_at, &uuid, sizeof uuid);
    std::memcpy(to + total_memory_at, &total, sizeof total);
    fill_fields(to, device, layout);
    return CUDA_SUCCESS;
  });
}

}  // namespace cairn::simulator::runtime
