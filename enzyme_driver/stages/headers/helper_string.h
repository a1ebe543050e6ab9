// Declarations in place of a header of NVIDIA's samples that is not installed: host code is only parsed.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

int stringRemoveDelimiter(char delimiter, const char *text);
int getFileExtension(char *name, char **extension);
bool checkCmdLineFlag(int argc, const char **argv, const char *name);
int getCmdLineArgumentInt(int argc, const char **argv, const char *name);
float getCmdLineArgumentFloat(int argc, const char **argv, const char *name);
bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **value);
template <class T> bool getCmdLineArgumentValue(int argc, const char **argv, const char *name, T *value);
char *sdkFindFilePath(const char *name, const char *program);
