#include "tool/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace cairn::tool {
namespace {

namespace fs = std::filesystem;

Failure<std::string> failure(const std::string& path, const std::string& why) {
  return Failure{path + ": cannot be written: " + why};
}
std::string system_reason() { return std::generic_category().message(errno); }

// Where the file is, links followed.
fs::path target_of(const std::string& path) {
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(path, ignored);
  return target.empty() ? fs::path(path) : target;
}
fs::path part_of(const fs::path& target) {
  return target.string() + ".part" + std::to_string(getpid());
}

}  // namespace

Result<Done, std::string> can_replace_file(const std::string& path) {
  if (path.empty()) return failure("\"\"", "it has no name");
  const fs::path target = target_of(path);
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) return failure(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return failure(path, "it is no regular file");
  }
  if (fs::exists(status) && access(target.c_str(), W_OK) != 0)
    return failure(path, system_reason());
  const fs::path part = part_of(target);
  const bool is_writable = std::ofstream(part, std::ios::binary).is_open();
  if (!is_writable) return failure(path, system_reason());
  fs::remove(part, ignored);
  return Done{};
}

Result<Done, std::string> replace_file(const std::string& path, std::string_view content) {
  const fs::path target = target_of(path);
  const fs::path part = part_of(target);
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code error;
  if (!file) {
    error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  } else {
    fs::rename(part, target, error);
  }
  if (!error) return Done{};
  std::error_code ignored;
  fs::remove(part, ignored);
  return failure(path, error.message());
}

}  // namespace cairn::tool
