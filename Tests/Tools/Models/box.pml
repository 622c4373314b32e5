/* Values that do not fit a word lie in boxes, which readers follow without counting (Storage.swift, 4).
 *
 * A writer takes boxes away under the lock, and lets each go once it has seen every stripe free. Two readers claim a stripe
 * (the same or one each), follow the word and copy what is in the box. Nobody touches a box that is gone, and a box is
 * let go only after what was read from it was read: both must be in what the one has seen of the other.
 */
#define THREADS 3
#define MESSAGES 7
#define READERS 2
#define STRIPES 2
#define BOXES 3
#define S 0
#define W 1
#define STRIPE 2
#define ATOMICS (2 + STRIPES)
/* Plain: what is in a box, and each reader's reads of it. */
#define BOX ATOMICS
#define READS (ATOMICS + BOXES)
#define LOCATIONS (READS + READERS * BOXES)
#include "memory.pml"

#define claim 1
#define read_box 2
#define release 3
#define awaiting_first 4
#define awaiting_again 5
#define store_box 6
#define store_opening_box 7
#define exchange_box 8
#define clear_box 9
#define target_box 10

#define FAST 1
#define state(time, flags) ((time) * 2 + flags)
#define WRITES 2

/* Whether readers come by a link that was made before anything happens; its target's state must be no newer. */
bool isLinked;
bool isGone[BOXES + 1];
/* The time of the state under which a box stands. */
byte timeOf[BOXES + 1];

/* Stripes.awaitReaders, and the release of the box behind it. */
inline letGo(box) {
    index = 0;
    do
    :: index < STRIPES ->
        load(0, STRIPE + index, ORDER(awaiting_first, SEQ), found);
        if
        :: (found & 1) == 1 ->
            again = found;
            do
            :: again == found -> load(0, STRIPE + index, ORDER(awaiting_again, ACQUIRE), again)
            :: else -> break
            od
        :: else
        fi;
        index++; found = 0; again = 0
    :: else -> break
    od;
    atomic {
        index = 0;
        isGone[box] = true;
        needs(0, READS + box - 1);
        needs(0, READS + BOXES + box - 1)
    }
}

proctype Writer() {
    byte writes, time = 1, box = 1, old, index, found, again;
    do
    :: writes < WRITES && box > 0 ->  /* CellReference.store */
        atomic { time++; timeOf[box + 1] = time };
        wrote(0, BOX + box);
        store(0, S, RELAXED, state(time, 0));
        if
        :: weak == store_opening_box ->
            /* A relaxed store may be seen before the exchange ahead of it. */
            store(0, S, ORDER(store_opening_box, RELEASE), state(time, FAST));
            exchange(0, W, SEQ, box + 1, old)
        :: else ->
            exchange(0, W, ORDER(store_box, SEQ), box + 1, old);
            store(0, S, RELEASE, state(time, FAST))
        fi;
        box++;
        letGo(old);
        writes++
    :: writes < WRITES && box > 0 ->  /* StorageReference.exchangeAlone, CellReference.exchange */
        timeOf[box + 1] = time;
        wrote(0, BOX + box);
        exchange(0, W, ORDER(exchange_box, SEQ), box + 1, old);
        box++;
        letGo(old);
        writes++
    :: writes < WRITES && box > 0 ->  /* CellReference.clear */
        time++;
        store(0, S, RELAXED, state(time, 0));
        exchange(0, W, ORDER(clear_box, SEQ), 0, old);
        letGo(old);
        box = 0
    :: else -> break
    od
}

proctype Reader(byte me) {
    byte first, stripe, found, word, again;
    bool done;
    if :: isLinked -> first = state(1, FAST) :: else -> load(me, S, RELAXED, first) fi;
    if
    :: (first & 1) == FAST ->
        if :: stripe = STRIPE :: stripe = STRIPE + 1 fi;
        do
        :: load(me, stripe, RELAXED, found);
           if
           :: (found & 1) == 0 ->
               compareExchange(me, stripe, ORDER(claim, SEQ), found, found + 1, done);
               if :: done -> break :: else fi
           :: else
           fi;
           stripe = STRIPE + (1 - (stripe - STRIPE))
        od;
        if
        :: isLinked ->
            load(me, W, ORDER(target_box, SEQ), word);
            load(me, S, RELAXED, again)
        :: else ->
            load(me, W, ORDER(read_box, SEQ), word);
            load(me, S, RELAXED, again)
        fi;
        if
        :: again == first ->
            assert(word > 0 && !isGone[word] && timeOf[word] == first / 2);
            needs(me, BOX + word - 1);
            wrote(me, READS + (me - 1) * BOXES + word - 1);
            assert(!isGone[word])
        :: else
        fi;
        load(me, stripe, RELAXED, found);
        store(me, stripe, ORDER(release, RELEASE), found + 1)
    :: else
    fi
}

init {
    atomic {
        choose();
        if :: isLinked = true :: isLinked = false fi;
        initially(S, state(1, FAST));
        initially(W, 1);
        timeOf[1] = 1;
        run Writer();
        run Reader(1);
        if :: isLinked :: else -> run Reader(2) fi
    }
}
