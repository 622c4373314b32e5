#include "FuguTestingStart.h"

// Swift has no code that runs when a program is loaded, but C has. Both functions are written in Swift: the first in
// FuguTesting, where the core finds it at the first failure; the second in the core, which must not depend on
// FuguTesting.
extern void fugu_testing_install(void);
extern void fugu_testing_is_linked(void (*install)(void));

__attribute__((constructor)) void fugu_testing_start(void) { fugu_testing_is_linked(fugu_testing_install); }
