/* The lock of one word (PlatformLock on Linux): one thread at a time, what it wrote is seen by the next, and nobody sleeps for
 * ever. Three threads; pthread's mutex and condition are taken for what they promise.
 */
#define THREADS 4
#define MESSAGES 16
#define WORD 0
#define MUTEX 1  /* What it hands on. */
#define ATOMICS 2
#define DATA 2
#define LOCATIONS 3
#include "memory.pml"

#define lock_fast 1
#define lock_spinning 2
#define lock_parking 3
#define unlock_word 4

#define LOOKS 1

bool isTaken;
byte generation, inside;

inline lockMutex() {
    atomic { !isTaken -> isTaken = true };
    load(me, MUTEX, SEQ, ignored);
    ignored = 0
}

inline unlockMutex() {
    d_step { last[MUTEX] = 0; view[me].at[MUTEX] = 0; carried[MUTEX * MESSAGES].at[WORD] = 0; join(carried[MUTEX * MESSAGES], view[me]); carried[MUTEX * MESSAGES].at[MUTEX] = 0; isTaken = false }
}

proctype Thread(byte me) {
    byte looks, old, slept, ignored;
    bool done;
    compareExchange(me, WORD, ORDER(lock_fast, ACQUIRE), 0, 1, done);
    if
    :: done
    :: else ->
        do
        :: looks < LOOKS && !done ->
            looks++;
            load(me, WORD, RELAXED, old);
            if
            :: old == 0 -> compareExchange(me, WORD, ORDER(lock_spinning, ACQUIRE), 0, 1, done)
            :: else
            fi
        :: else -> break
        od;
        if
        :: done
        :: else ->
            lockMutex();
            do
            :: exchange(me, WORD, ORDER(lock_parking, ACQUIRE), 2, old);
               if
               :: old == 0 -> break
               :: else ->
                   slept = generation;
                   unlockMutex();
                   generation != slept;
                   lockMutex()
               fi
            od;
            unlockMutex()
        fi
    fi;
    /* Inside. */
    assert(inside == 0);
    inside++;
    needs(me, DATA);
    wrote(me, DATA);
    inside--;
    exchange(me, WORD, ORDER(unlock_word, RELEASE), 0, old);
    if
    :: old == 2 ->
        lockMutex();
        generation++;
        unlockMutex()
    :: else
    fi
}

init {
    atomic {
        choose();
        run Thread(1);
        run Thread(2);
        run Thread(3)
    }
}
