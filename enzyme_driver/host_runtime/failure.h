// How code that runs in parallel reports that it failed: the first message is kept until the call ends.
#pragma once

#include "launch.h"

#include <cstdint>
#include <string>

void adgen_fail(const std::string &message);

// The index of a block or thread, for messages.
std::string place(const uint32_t *index);

// What a block does that uses more shared memory than it has.
std::string leftShared(const uint32_t *block, const adgen_launch *launch, uint64_t static_bytes);
