// A library between the preloaded one and the simulated runtime: it counts what goes on to the
// runtime, and plays what is not simulated, captures and IPC.
#pragma once

extern "C" {

// How often cudaMalloc, cudaFree and cudaMallocAsync came here.
int cairn_stub_mallocs();
int cairn_stub_frees();
int cairn_stub_mallocs_async();

}  // extern "C"
