/* Many keys change together: readers are sent to the lock before the first is changed (Family.commit).
 *
 * A reader reads one key and then the other. Having seen one new value it never sees an old one, whichever it reads first
 * and whether the values fit a word or lie in boxes (for which less would do here than box.pml needs).
 */
#define THREADS 2
#define MESSAGES 5
#define S 0  /* and 1: the states of both keys */
#define W 2  /* and 3: the words */
#define ATOMICS 4
#define LOCATIONS 4
#include "memory.pml"

#define read_state 1
#define read_word 2
#define store_word 3
#define open_state 4

#define FAST 1
#define state(time, flags) ((time) * 2 + flags)

bool isBoxed;

inline replaceClosed(key) {
    if
    :: isBoxed ->
        store(0, S + key, RELAXED, state(2 + key, 0));
        exchange(0, W + key, BOTH, 2, old)
    :: else ->
        store(0, S + key, RELAXED, state(2 + key, 0));
        store(0, W + key, ORDER(store_word, RELEASE), 2)
    fi
}

proctype Writer() {
    byte old;
    store(0, S, RELAXED, state(1, 0));
    store(0, S + 1, RELAXED, state(1, 0));
    replaceClosed(0);
    replaceClosed(1);
    store(0, S, ORDER(open_state, RELEASE), state(2, FAST));
    store(0, S + 1, ORDER(open_state, RELEASE), state(3, FAST))
}

proctype Reader() {
    byte reads, key, first, word, again, newest_;
    if :: key = 0 :: key = 1 fi;
    do
    :: reads < 2 ->
        load(1, S + key, ORDER(read_state, ACQUIRE), first);
        if
        :: (first & 1) == FAST ->
            if
            :: isBoxed -> load(1, W + key, ACQUIRE, word)
            :: else -> load(1, W + key, ORDER(read_word, ACQUIRE), word)
            fi;
            load(1, S + key, RELAXED, again);
            if
            :: again == first ->
                assert(word >= newest_);
                newest_ = word
            :: else
            fi
        :: else
        fi;
        d_step { reads++; key = 1 - key; first = 0; word = 0; again = 0 }
    :: else -> break
    od
}

init {
    atomic {
        choose();
        if :: isBoxed = true :: isBoxed = false fi;
        initially(S, state(1, FAST));
        initially(S + 1, state(1, FAST));
        initially(W, 1);
        initially(W + 1, 1);
        run Writer();
        run Reader()
    }
}
