// A run as one page of HTML that needs nothing else: what picture.html and its scripts show, with
// the run's data in it.
//
// The data are three texts. `figures`: what `cairn replay --json` prints. `run`: names and counts,
// as JSON. `log`: the moments, as whole numbers to base 36 with spaces between them; what they mean
// stands at LogWriter in picture.cc, and picture_run.js reads them.
#pragma once

#include <string>

#include "tool/recording.h"
#include "tool/replay_plan.h"

namespace cairn::tool {

// picture.html with the scripts in it: made by CMake, one comment in it for each of the data.
extern const char* const picture_template;

// `figures` is a JSON object.
std::string picture_page(const ReplayPlan& plan, const Recording& recording,
                         const std::string& figures);

}  // namespace cairn::tool
