/* One cell whose values fit a word: a seqlock (Storage.swift, 3).
 *
 * A writer, under the lock, replaces the value, exchanges it alone, takes it away, links the cell to an ancestor's. A reader
 * reads twice. What it takes for a value was one while the state was as the reader found it; what it follows is an address.
 * It never sees an older value after a newer one, and what is set before the read began is the least that it sees.
 */
#define THREADS 2
#define MESSAGES 12
#define S 0
#define W 1
#define DONE 2
#define ATOMICS 3
#define LOCATIONS 3
#include "memory.pml"

#define read_state 1
#define read_word 2
#define store_word 3
#define store_opening 4
#define exchange_word 5
#define link_word 6
#define link_opening 7
#define link_read_word 8
#define mark_state 9

#define FAST 1
#define LINK 2
#define SPECIAL 4
#define state(time, flags) ((time) * 8 + flags)
#define ADDRESS 100
#define WRITES 3

/* For each version the time of the state under which it stands. */
byte timeOf[8];
byte version, time;

proctype Writer() {
    byte writes;
    bool isSet = true, isMarked;
    do
    :: writes < WRITES ->  /* CellReference.store */
        atomic { time++; version++; timeOf[version] = time };
        store(0, S, RELAXED, state(time, 0));
        store(0, W, ORDER(store_word, RELEASE), version);
        store(0, S, ORDER(store_opening, RELEASE), state(time, FAST));
        store(0, DONE, RELEASE, version);
        isSet = true;
        isMarked = false;
        writes++
    :: writes < WRITES && isSet ->  /* StorageReference.exchangeAlone, CellReference.exchange: the state stays */
        atomic { version++; timeOf[version] = time };
        store(0, W, ORDER(exchange_word, RELEASE), version);
        store(0, DONE, RELEASE, version);
        writes++
    :: writes < WRITES && isSet && !isMarked ->  /* CellReference.mark */
        store(0, S, ORDER(mark_state, RELEASE), state(time, FAST + SPECIAL));
        isMarked = true;
        writes++
    :: writes < WRITES && isSet ->  /* CellReference.clear, and the key is inherited from now on */
        time++;
        store(0, S, RELAXED, state(time, 0));
        isSet = false;
        isMarked = false;
        if
        :: time++;
           store(0, S, RELAXED, state(time, 0));
           store(0, W, ORDER(link_word, RELEASE), ADDRESS);
           store(0, S, ORDER(link_opening, RELEASE), state(time, LINK))
        :: skip
        fi;
        writes++
    :: else -> break
    od
}

proctype Reader() {
    byte reads, first, word, again, done, newest_;
    do
    :: reads < 2 ->
        load(1, DONE, ACQUIRE, done);
        load(1, S, ORDER(read_state, ACQUIRE), first);
        if
        :: (first & 3) == FAST ->
            load(1, W, ORDER(read_word, ACQUIRE), word);
            load(1, S, RELAXED, again);
            if
            :: again == first ->
                d_step {
                    assert(word > 0 && word < ADDRESS);
                    assert(timeOf[word] == first / 8);
                    assert(word >= done && word >= newest_);
                    newest_ = word
                }
            :: else
            fi
        :: (first & 3) == LINK ->
            load(1, W, ORDER(link_read_word, ACQUIRE), word);
            load(1, S, RELAXED, again);
            if :: again == first -> assert(word == ADDRESS) :: else fi
        :: else
        fi;
        d_step { reads++; first = 0; word = 0; again = 0; done = 0 }
    :: else -> break
    od
}

init {
    atomic {
        choose();
        d_step { version = 1; time = 1; timeOf[1] = 1 };
        initially(S, state(1, FAST));
        initially(W, 1);
        run Writer();
        run Reader()
    }
}
