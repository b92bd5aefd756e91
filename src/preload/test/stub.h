// A library between the preloaded one and the simulated runtime: it counts what goes on to the
// runtime, and plays what is not simulated, captures and IPC.
#pragma once

struct CUstream_st;

extern "C" {

// Begins a capture that the preloaded library does not see.
void cairn_stub_begin_capture(CUstream_st* stream);
// The same for its end.
void cairn_stub_end_capture(CUstream_st* stream);

// What is done at the end of each cudaStreamBeginCapture.
void cairn_stub_on_begin_capture(void (*act)());

// How often cudaMalloc, cudaFree and cudaMallocAsync came here.
int cairn_stub_mallocs();
int cairn_stub_frees();
int cairn_stub_mallocs_async();

}  // extern "C"
