// Without this, the headers of Linux don't declare dladdr.
#define _GNU_SOURCE
#include "FuguTestingStart.h"

#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

// Swift has no code that runs when a program is loaded, but C has. The functions are written in Swift: the first two in
// FuguTesting, of which the core finds one at the first failure; the last in the core, which must not depend on
// FuguTesting.
extern void fugu_testing_install(void);
extern void fugu_testing_begin(void);
extern void fugu_testing_is_linked(void (*install)(void));

__attribute__((constructor)) void fugu_testing_start(void) {
    fugu_testing_is_linked(fugu_testing_install);
    fugu_testing_begin();
}

const char *fugu_testing_file(const void *address) {
#if __has_include(<dlfcn.h>)
    Dl_info info;
    if (dladdr(address, &info)) return info.dli_fname;
#endif
    return 0;
}
