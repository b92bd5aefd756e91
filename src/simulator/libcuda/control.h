/* What only a simulated libcuda.so.1 has: how a test plays the GPU's part, and asks the judge. In
 * C. Found by dlsym, so that a program knows by these whether its libcuda is the simulated one; or
 * linked. README.md beside this folder tells more.
 *
 * The machine is made by the first cuInit, from the environment:
 *   CAIRN_SIM_DEVICES       how many devices it has (1)
 *   CAIRN_SIM_MEMORY        bytes of memory of each (80 GiB)
 *   CAIRN_SIM_BACKED        1: host memory stands behind device addresses (0)
 *   CAIRN_SIM_FAULT         which calls fail, as `fault` says it in a Program (none)
 *   CAIRN_SIM_KERNEL_TICKS  how long a kernel, a copy, a fill or a touch takes (1000)
 *   CAIRN_SIM_QUERY_TICKS   how long the runtime's answer "not ready" takes (1000)
 *   CAIRN_SIM_FREE_WAITS    0: cudaFree does not wait for the device (1)
 *   CAIRN_SIM_JUDGE         what is done with what the judge finds: quiet, print, abort (print)
 *   CAIRN_SIM_CUDA_VERSION  as cuDriverGetVersion says it (13000)
 *   CAIRN_SIM_MISSING       a call that the library lacks (none)
 *   CAIRN_SIM_PROCESSES     how many processes libnvidia-ml.so.1 names on the first device (1)
 *
 * Thread safety: all functions.
 */
#ifndef CAIRN_SIMULATOR_LIBCUDA_CONTROL_H
#define CAIRN_SIMULATOR_LIBCUDA_CONTROL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* How work uses memory. */
#define CAIRN_SIM_READ 1
#define CAIRN_SIM_WRITE 2

/* Those that give an int give a CUresult: without a machine CUDA_ERROR_NOT_INITIALIZED. Sizes are
 * in bytes. Streams are named as the calling thread names them in its current context. */

/* Ends the machine. The next cuInit makes a new one; whatever was of the old one is dead. */
void cairn_sim_reset(void);
/* A kernel that uses no memory and takes so many ticks. */
int cairn_sim_launch(struct CUstream_st* stream, unsigned long long ticks);
/* A kernel that uses the memory, as `mode` says: CAIRN_SIM_READ, CAIRN_SIM_WRITE or both. */
int cairn_sim_touch(struct CUstream_st* stream, const void* address, size_t size, int mode);
/* The only thing that lets time go by, beside calls that wait. A tick is a nanosecond. */
void cairn_sim_advance(unsigned long long ticks);

/* An allocator under test tells what it does with the memory that it has from CUDA: it handed some
 * out for work on the stream, or took it back, having been told of work on `recorded` too. The
 * judge then sees ranges that overlap, and reuse that is not ordered with the earlier use. */
int cairn_sim_hand_out(struct CUstream_st* stream, const void* address, size_t size);
int cairn_sim_take_back(const void* address, size_t size, struct CUstream_st* const* recorded,
                        size_t recorded_count);

/* These three give words, one message a line, as snprintf() would: up to `size` bytes with the
 * final 0, and as their value how long the whole text is without it. So 0 means that there is
 * nothing to say, and (NULL, 0) asks for the length. */

/* What the judge has seen since the machine was made. */
size_t cairn_sim_violations(char* text, size_t size);
/* What the program did wrong since then, and the allocator could not know: work on a stream that
 * was not told at the take-back, or that is not ordered after what stood on the memory's own. */
size_t cairn_sim_mistakes(char* text, size_t size);
/* What was asked of the driver since this was last called, each call with what it gave:
 * "malloc device=0 size=2097152 address=0x100000000000". The kinds are those that an allocator
 * makes: of memory, events, waits and queries, by the driver's names or the runtime's. They are
 * kept from the first call of this function on; where there was no room for all, the same are given
 * the next time. */
size_t cairn_sim_take_calls(char* text, size_t size);

/* Where the device's next allocation lies, once; what cannot be there lies where it would by
 * itself. But with CAIRN_SIM_BACKED=1 it fails where something else of the process is. */
int cairn_sim_next_address(int device, unsigned long long address);

#ifdef __cplusplus
}
#endif

#endif
