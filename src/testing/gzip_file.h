// Files as they are or gzipped, told apart by their first two bytes. What a file unpacks to is
// bounded, so that a small file cannot fill the memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace cairn::testing {

// Error texts name the byte where the data went wrong, or the limit.
template <class T>
using FileResult = Result<T, std::string>;

inline constexpr Bytes default_content_limit{std::uint64_t{1} << 30};

bool is_gzip(std::string_view data);

// Unpacks one or several gzip members that follow one another.
FileResult<std::string> gunzip(std::string_view data, Bytes limit = default_content_limit);

FileResult<std::string> gzip(std::string_view content);

// The content of the file, unpacked where it is gzipped. `-` is the standard input. The limit holds
// for the file itself and for what it unpacks to.
FileResult<std::string> read_content(const std::string& path, Bytes limit = default_content_limit);

// Writes the file, gzipped where its name ends in `.gz`. `-` is not special.
FileResult<Done> write_content(const std::string& path, std::string_view content);

}  // namespace cairn::testing
