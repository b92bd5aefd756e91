// What only a simulated libcuda.so.1 has: how a test plays the GPU's part. Found by dlsym, so that
// a program knows by these whether its libcuda is the simulated one.
//
// The machine is made by the first cuInit, from the environment:
//   CAIRN_SIM_DEVICES       how many devices it has (1)
//   CAIRN_SIM_MEMORY        bytes of memory of each (80 GiB)
//   CAIRN_SIM_CUDA_VERSION  as cuDriverGetVersion says it (13000)
//   CAIRN_SIM_MISSING       a call that the library lacks (none)
#pragma once

#include <cuda.h>

extern "C" {

// Ends the machine. The next cuInit makes a new one; whatever was of the old one is dead.
void cairn_sim_reset();
// A kernel that uses no memory and takes so many ticks, on a stream as the calling thread names it
// in its current context.
CUresult cairn_sim_launch(CUstream stream, unsigned long long ticks);
// The only thing that lets time go by, beside calls that wait.
void cairn_sim_advance(unsigned long long ticks);
// What the judge has seen, in words, one a line, up to `size` bytes with the final 0; gives how
// many there are.
int cairn_sim_violations(char* text, int size);

}  // extern "C"
