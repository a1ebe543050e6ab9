// The form of a flag by which a thread skips a loop, in a loop around that hands it on.
#pragma once

#include "Checkpointing/Nest.h"

namespace adgen {

// `if (done) continue; if (n <= 0) continue;` in front of the loop becomes one condition, and a flag that says as long
// as there is something to do (`active`) becomes one that says when there is nothing. Whether anything has changed.
bool bringToForm(const Nest &N);

} // namespace adgen
