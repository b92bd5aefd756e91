#include "fuzz/in_child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace cairn::fuzz {
namespace {

constexpr unsigned longest_seconds = 20;
constexpr int exit_of_finding = 99;  // No sanitizer exits with it.

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(2);
}

[[noreturn]] void be_the_child(const std::function<bool()>& finds) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::alarm(longest_seconds);
  ::_exit(finds() ? exit_of_finding : 0);
}

}  // namespace

const char* to_string(Outcome outcome) {
  constexpr std::array words{"nothing", "a finding", "a crash", "a hang"};
  return words.at(static_cast<std::size_t>(outcome));
}

Outcome in_child(const std::function<bool()>& finds) {
  const pid_t child = ::fork();
  if (child < 0) give_up("fork");
  if (child == 0) be_the_child(finds);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) give_up("waitpid");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return Outcome::hang;
  if (!WIFEXITED(status)) return Outcome::crash;
  if (WEXITSTATUS(status) == exit_of_finding) return Outcome::finding;
  return WEXITSTATUS(status) == 0 ? Outcome::holds : Outcome::crash;
}

struct SharedText::Layout {
  std::size_t size;
  std::array<char, std::size_t{1} << 24> bytes;
};

SharedText::SharedText() {
  void* place =
      ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) give_up("mmap");
  layout_ = static_cast<Layout*>(place);  // The kernel's pages are zero: an empty text.
}
SharedText::~SharedText() { ::munmap(layout_, sizeof(Layout)); }

void SharedText::replace(std::size_t first, std::string_view text) {
  const std::size_t count = std::min(text.size(), layout_->bytes.size() - first);
  std::copy_n(text.begin(), count, layout_->bytes.begin() + static_cast<std::ptrdiff_t>(first));
  layout_->size = first + count;
}

std::string SharedText::text() const { return {layout_->bytes.data(), layout_->size}; }
std::size_t SharedText::size() const { return layout_->size; }

}  // namespace cairn::fuzz
