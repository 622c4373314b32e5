/* A cell that points at an ancestor's: right as long as nothing between has changed since (StorageReference.readLink).
 *
 * Three containers below one another: the root has the key, C reads it through a link, and M between them overrides it, so
 * that C's link must not be used any more. M's epoch stands for what changes between, C's for what C itself overrides. A
 * reader of C never sees less than what was done before its read began, never an older value after a newer one, and never
 * what C does not inherit; the cell that a link points at is whole. Values are numbered in the order in which C is to see
 * them.
 */
#define THREADS 2
#define MESSAGES 8
#define ROOT 0  /* state; the word is the next */
#define MIDDLE 2
#define CHILD 4
#define EPOCH 6  /* of C */
#define DEEP 7  /* of M, the branch */
#define DONE 8
#define ATOMICS 9
#define MADE 9  /* Plain: M's cell */
#define LOCATIONS 10
#include "memory.pml"

#define read_state 1
#define link_read_word 2
#define target_word 3
#define store_word 4
#define store_opening 5
#define link_word 6
#define link_opening 7

#define FAST 1
#define LINK 2
#define state(time, flags) ((time) * 4 + flags)
#define ADDRESS 100

byte time = 2, done;
/* What C is to see next, at most: what has begun to be done. */
byte begun = 1;
bool isBetween;

inline put(cell, new) {
    store(0, cell, RELAXED, state(time, 0));
    store(0, cell + 1, ORDER(store_word, RELEASE), new);
    store(0, cell, ORDER(store_opening, RELEASE), state(time, FAST))
}

inline linkTo(cell) {
    store(0, CHILD, RELAXED, state(time, 0));
    store(0, CHILD + 1, ORDER(link_word, RELEASE), ADDRESS + cell);
    store(0, CHILD, ORDER(link_opening, RELEASE), state(time, LINK))
}

/* What changes may lie between, or in C itself. */
inline raise() {
    if :: isBetween -> store(0, DEEP, RELAXED, time) :: else -> store(0, EPOCH, RELAXED, time) fi
}

/* Slow readers link again whenever they come; here, sometimes, after a change. */
inline relink(cell) { if :: linkTo(cell) :: skip fi }

proctype Writer() {
    /* M overrides. */
    begun = 2;
    time++;
    raise();
    wrote(0, MADE);
    put(MIDDLE, 2);
    store(0, DONE, RELEASE, 2);
    relink(MIDDLE);
    /* M and the root change; the root's is not for C. */
    begun = 3;
    time++;
    put(MIDDLE, 3);
    store(0, DONE, RELEASE, 3);
    time++;
    put(ROOT, 4);
    /* M is reset. */
    begun = 4;
    time++;
    store(0, MIDDLE, RELAXED, state(time, 0));
    raise();
    store(0, DONE, RELEASE, 4);
    relink(ROOT);
    /* C has a value of its own. */
    begun = 5;
    time++;
    put(CHILD, 5);
    store(0, DONE, RELEASE, 5)
}

inline see(word) {
    d_step {
        assert(word < ADDRESS && word >= seen_ && word >= least && word <= begun);
        seen_ = word
    }
}

proctype Reader() {
    byte reads, asked, first, address, word, again, target, epoch, deep, least, seen_;
    do
    :: reads < 2 ->
        load(1, DONE, ACQUIRE, least);
        /* Through C, or M itself, as long as C inherits from it. */
        if :: asked = CHILD :: last[MIDDLE] > 0 && begun < 4 -> asked = MIDDLE; least = 0 fi;
        load(1, asked, ORDER(read_state, ACQUIRE), first);
        if
        :: (first & 3) == FAST ->
            load(1, asked + 1, RELAXED, word);
            load(1, asked, RELAXED, again);
            if :: again == first -> see(word) :: else fi
        :: (first & 3) == LINK ->
            load(1, CHILD + 1, ORDER(link_read_word, ACQUIRE), address);
            load(1, CHILD, RELAXED, again);
            if
            :: again == first ->
                assert(address == ADDRESS + ROOT || address == ADDRESS + MIDDLE);
                target = address - ADDRESS;
                if :: target == MIDDLE -> needs(1, MADE) :: else fi;
                load(1, target + 1, ORDER(target_word, ACQUIRE), word);
                load(1, target, RELAXED, again);
                load(1, EPOCH, RELAXED, epoch);
                load(1, DEEP, RELAXED, deep);
                if
                :: (again & FAST) && again / 4 <= first / 4 && epoch <= first / 4 && deep <= first / 4 -> see(word)
                :: else
                fi
            :: else
            fi
        :: else
        fi;
        d_step { reads++; asked = 0; first = 0; address = 0; word = 0; again = 0; target = 0; epoch = 0; deep = 0; least = 0 }
    :: else -> break
    od
}

init {
    atomic {
        choose();
        if :: isBetween = true :: isBetween = false fi;
        initially(ROOT, state(1, FAST));
        initially(ROOT + 1, 1);
        initially(CHILD, state(2, LINK));
        initially(CHILD + 1, ADDRESS + ROOT);
        run Writer();
        run Reader()
    }
}
