#ifndef FUGU_TESTING_START_H
#define FUGU_TESTING_START_H

/// Tells the core that FuguTesting is part of this process. It runs by itself when the program or the library that contains
/// it is loaded, before any code of a test; calling it again changes nothing.
void fugu_testing_start(void);

#endif
