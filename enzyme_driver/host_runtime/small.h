// Small blocks of memory, in lists that every thread has for itself.
#pragma once

#include <cstdint>

uint64_t mostSpare(); // bytes of memory that may stay for later gradients

void *takeSmall(uint64_t bytes);          // null where it is none, or all are used
bool giveSmall(void *memory);             // false where it is none; from any thread
uint64_t sizeOfSmall(const void *memory); // 0 where it is none
