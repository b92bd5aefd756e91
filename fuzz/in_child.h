// Runs something in a child process, so that it may find something, crash or hang and the caller
// goes on; and text that both processes see, which outlives a crash.
//
// Not thread-safe: REQUIRES that the process has one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cairn::fuzz {

enum class Outcome { holds, finding, crash, hang };
const char* to_string(Outcome outcome);

// `finds` says whether it found something. What the child prints is lost.
Outcome in_child(const std::function<bool()>& finds);

// Memory shared with all children.
class SharedText {
 public:
  SharedText();
  ~SharedText();
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  // What follows the first so many bytes is replaced; what does not fit is cut off.
  void replace(std::size_t first, std::string_view text);
  std::string text() const;
  std::size_t size() const;

 private:
  struct Layout;
  Layout* layout_;
};

}  // namespace cairn::fuzz
