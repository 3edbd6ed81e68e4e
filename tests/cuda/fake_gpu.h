// What tests tell and ask the stand-in for libcuda and libnvrtc (fake_gpu.cpp), by dlsym.
#pragma once

#include <cstddef>

extern "C" {
/// Forgets failures, counts and faults; devices and what is allocated stay.
void fake_gpu_reset();
/// The calls of `symbol` after `skipped` more return `result`, so many times.
void fake_gpu_fail(const char* symbol, int result, int skipped, int times);
/// Calls of `symbol` since the reset.
int fake_gpu_count(const char* symbol);
/// Copies and launches since the reset, a line each: "HtoD 64", "launch 3".
const char* fake_gpu_log();
/// Accesses of kernels outside of live memory, and the like; empty if there were none.
const char* fake_gpu_fault();
/// Bytes of each device, of which live blocks take some.
void fake_gpu_set_memory(std::size_t bytes);
/// Whether devices have cuMemAllocAsync.
void fake_gpu_set_pools(int has_pools);
/// Whether `stream` is being captured.
void fake_gpu_capture(void* stream, int is_capturing);
/// Blocks that are allocated on all devices.
int fake_gpu_live_blocks();
/// Operations that are queued and have not run.
int fake_gpu_pending();
}
