// Files that are replaced whole: until all of the new content is written, the old one stays.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::tool {

// Whether replace_file() will find its way; changes nothing. The error says why not, and begins
// with the path.
Result<Done, std::string> can_replace_file(const std::string& path);

// Writes the content beside the file, and then puts it in its place. A file that was not there is
// made. Where it fails, nothing has changed.
Result<Done, std::string> replace_file(const std::string& path, std::string_view content);

}  // namespace cairn::tool
