/* The container of the process and the tests' runner, whichever comes first (TestProcess): each leaves its mark and then looks
 * for the other's, and at least one of them finds it.
 */
#define THREADS 2
#define MESSAGES 2
#define INSTALLER 0
#define SHARED 1
#define ATOMICS 2
#define LOCATIONS 2
#include "memory.pml"

#define mark_installer 1
#define look_for_shared 2
#define mark_shared 3
#define look_for_installer 4

byte found, ended;

proctype Begin() {
    byte old, exists;
    exchange(0, INSTALLER, ORDER(mark_installer, SEQ), 1, old);
    load(0, SHARED, ORDER(look_for_shared, SEQ), exists);
    d_step { found = found + exists; ended++ }
}

proctype MakeShared() {
    byte runner;
    store(1, SHARED, ORDER(mark_shared, SEQ), 1);
    load(1, INSTALLER, ORDER(look_for_installer, SEQ), runner);
    d_step { found = found + runner; ended++ }
}

init {
    atomic {
        choose();
        run Begin();
        run MakeShared()
    }
    ended == 2;
    assert(found > 0)
}
