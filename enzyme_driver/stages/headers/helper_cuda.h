// Declarations in place of a header of NVIDIA's samples that is not installed: host code is only parsed.
#pragma once
#include "helper_string.h"
#include <cuda_runtime.h>
#include <iostream>

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

template <class T> void check(T result, const char *call, const char *file, int line);
template <class T> const char *_cudaGetErrorEnum(T error);
void __getLastCudaError(const char *message, const char *file, int line);
void __printLastCudaError(const char *message, const char *file, int line);
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

int ftoi(float value);
int _ConvertSMVer2Cores(int major, int minor);
const char *_ConvertSMVer2ArchName(int major, int minor);
int gpuDeviceInit(int device);
int gpuGetMaxGflopsDeviceId();
int findCudaDevice(int argc, const char **argv);
int findIntegratedGPU();
bool checkCudaCapabilities(int major, int minor);
