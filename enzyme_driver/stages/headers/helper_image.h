// Declarations in place of a header of NVIDIA's samples that is not installed: host code is only parsed.
#pragma once

template <class T> bool sdkLoadPGM(const char *file, T **data, unsigned int *width, unsigned int *height);
template <class T> bool sdkSavePGM(const char *file, T *data, unsigned int width, unsigned int height);
template <class T> bool sdkLoadPPM4(const char *file, T **data, unsigned int *width, unsigned int *height);
bool sdkSavePPM4ub(const char *file, unsigned char *data, unsigned int width, unsigned int height);
template <class T> bool sdkReadFile(const char *file, T **data, unsigned int *length, bool verbose);
template <class T, class S> bool sdkWriteFile(const char *file, const T *data, unsigned int length, const S epsilon, bool verbose, bool append = false);
template <class T> bool sdkCompareL2fe(const T *reference, const T *data, unsigned int length, float epsilon);
template <class T, class S> bool compareData(const T *reference, const T *data, unsigned int length, S epsilon, float threshold);
bool sdkComparePPM(const char *file, const char *reference, float epsilon, float threshold, bool verbose);
