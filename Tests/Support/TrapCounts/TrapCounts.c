// What a process counted for coverage is written when it exits, so a process that traps would take its counts along. Exit tests
// end in traps; here their counts are written first.
#if defined(__linux__)
#include <signal.h>

extern int __llvm_profile_write_file(void) __attribute__((weak));

static void write_counts(int number) {
    __llvm_profile_write_file();
    // The instruction that trapped is run again when this returns, and then ends the process as it would have.
    signal(number, SIG_DFL);
}

__attribute__((constructor)) static void begin(void) {
    if (!__llvm_profile_write_file) return;
    signal(SIGILL, write_counts);
    signal(SIGTRAP, write_counts);
}
#endif
