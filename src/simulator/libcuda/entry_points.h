// CUDA's calls over the simulated machine, each with the signature that cuda.h gives it. What they
// do is documented there. Unlike the real library, this one insists on a current context in every
// call whose documentation speaks of one, or of the primary one, and in queries of events too.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cairn::simulator {

struct Region;
struct StreamFacts;
enum class MemoryKind;

// Streams have priorities from this one, the greatest, to 0.
inline constexpr int greatest_priority = -5;

CUresult init(unsigned int flags);
CUresult driver_get_version(int* version);
CUresult device_get_count(int* count);
CUresult device_get(CUdevice* device, int ordinal);
CUresult device_total_mem(std::size_t* bytes, CUdevice device);
CUresult device_get_pci_bus_id(char* text, int size, CUdevice device);
CUresult primary_ctx_retain(CUcontext* context, CUdevice device);
CUresult primary_ctx_release(CUdevice device);
CUresult primary_ctx_reset(CUdevice device);
CUresult primary_ctx_get_state(CUdevice device, unsigned int* flags, int* active);

CUresult ctx_create(CUcontext* context, unsigned int flags, CUdevice device);
CUresult ctx_destroy(CUcontext context);
CUresult ctx_set_current(CUcontext context);
CUresult ctx_get_current(CUcontext* context);
CUresult ctx_get_device(CUdevice* device);
CUresult ctx_push_current(CUcontext context);
CUresult ctx_pop_current(CUcontext* context);
CUresult ctx_synchronize();
CUresult ctx_record_event(CUcontext context, CUevent event);

CUresult mem_alloc(CUdeviceptr* address, std::size_t size);
CUresult mem_free(CUdeviceptr address);
CUresult mem_alloc_managed(CUdeviceptr* address, std::size_t size, unsigned int flags);
CUresult mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes);

CUresult mem_host_alloc(void** pointer, std::size_t size);
// Of memory that mem_host_alloc() gave, or mem_host_register() was given.
CUresult mem_host_release(void* pointer, MemoryKind kind);
CUresult mem_host_register(void* pointer, std::size_t size);
// What is known of the memory that the pointer points into.
CUresult find_region(const void* pointer, Region* found);

CUresult event_create(CUevent* event, unsigned int flags);
CUresult event_record(CUevent event, CUstream stream);
CUresult event_query(CUevent event);
CUresult event_synchronize(CUevent event);
CUresult event_elapsed_time(float* milliseconds, CUevent start, CUevent end);
CUresult event_destroy(CUevent event);

CUresult stream_create(CUstream* stream, unsigned int flags);
CUresult stream_create_with_priority(CUstream* stream, unsigned int flags, int priority);
CUresult stream_query(CUstream stream);
CUresult stream_wait_event(CUstream stream, CUevent event, unsigned int flags);
CUresult stream_facts(CUstream stream, StreamFacts* facts);
CUresult stream_destroy(CUstream stream);
CUresult stream_synchronize(CUstream stream);
CUresult stream_get_ctx(CUstream stream, CUcontext* context);
CUresult stream_get_id(CUstream stream, unsigned long long* id);

}  // namespace cairn::simulator
