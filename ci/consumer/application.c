/* As application.cc, in C. */
#include <stdio.h>
#include <string.h>

#include "cairn/cairn.h"
#include "cairn/plugins.h"

int main(void) {
  if (strcmp(cairn_version(), CAIRN_VERSION) != 0) {
    fprintf(stderr, "application: library %s, headers %s\n", cairn_version(), CAIRN_VERSION);
    return 2;
  }
  cairn_allocator* allocator = NULL;
  void* pointer = NULL;
  const cairn_request request = {.size_bytes = 1 << 20};
  if (cairn_allocator_default(&allocator) != CAIRN_OK ||
      cairn_allocate(allocator, &request, &pointer) != CAIRN_OK) {
    fprintf(stderr, "application: %s\n", cairn_last_error_message());
    return 1;
  }
  printf("application: %zu bytes at %p\n", request.size_bytes, pointer);
  return cairn_free(allocator, pointer) == CAIRN_OK ? 0 : 2;
}
