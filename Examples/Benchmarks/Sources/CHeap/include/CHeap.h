#ifndef CHEAP_H
#define CHEAP_H

#include <stddef.h>

/// The bytes that the process has allocated and not freed, the allocator's own headers and rounding included.
size_t heap_bytes_in_use(void);

#endif
