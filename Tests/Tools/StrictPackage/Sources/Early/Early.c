#include "Early.h"

extern void weather_begin(void);

void early(void) {}

// What a global initializer of C++ would do.
__attribute__((constructor)) static void begin(void) { weather_begin(); }
