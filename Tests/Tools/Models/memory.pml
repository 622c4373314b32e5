/* Memory as weak as C++ and Swift allow it, for the models beside this file.
 *
 * An atomic location has all the values that were ever stored in it. A load may take any that is not older than what the
 * thread has seen: that is what store buffers and loads out of order come to. A store that releases carries what its thread
 * has seen; a load that acquires adds to what its thread has seen what the store carried. An exchange takes the newest value
 * and hands on what the store that it replaces carried.
 *
 * All sequentially consistent operations have one order. Stores have their place in it when they are done; a load has any
 * place behind the last such operation that its thread did or has heard of, and takes nothing older than the last such store
 * before that place. (That a thread has seen another store, which was made later, says nothing about its place.)
 *
 * Plain memory is looked at by `wrote` and `needs`: who touches what another thread wrote must have seen that it was written.
 *
 * A model defines THREADS, ATOMICS (its atomic locations, numbered from 0), LOCATIONS (with the plain ones behind them) and
 * MESSAGES (how many values one location ever has, at most).
 */
#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2
#define BOTH 3
#define SEQ 4

#define acquires(order) (order == ACQUIRE || order == BOTH || order == SEQ)
#define releases(order) (order == RELEASE || order == BOTH || order == SEQ)

/* The order that is weakened in this run, and what it is weakened to. */
byte weak, weaker;
#define ORDER(name, order) ((weak == name) * weaker + (weak != name) * order)

typedef View { byte at[LOCATIONS] };
View view[THREADS];
View carried[ATOMICS * MESSAGES];
byte value[ATOMICS * MESSAGES];
byte last[LOCATIONS];
/* When a store was done, if it is sequentially consistent; and the place in their order that a store carries. */
byte placed[ATOMICS * MESSAGES], carriedPlace[ATOMICS * MESSAGES];
byte place[THREADS];
byte places;
byte chosen;
hidden byte k;

#define newest(location) value[(location) * MESSAGES + last[location]]

inline join(to, from) {
    k = 0;
    do
    :: k < LOCATIONS ->
        if :: from.at[k] > to.at[k] -> to.at[k] = from.at[k] :: else fi;
        k++
    :: else -> break
    od
}

/* Within a d_step: the oldest that a sequentially consistent load may take. */
inline afterPlaced(me, location) {
    k = chosen;
    do
    :: k < last[location] ->
        k++;
        if
        :: placed[(location) * MESSAGES + k] > 0 && placed[(location) * MESSAGES + k] <= place[me] -> chosen = k
        :: else
        fi
    :: else -> break
    od
}

/* Within a d_step. */
inline hear(me, location, message) {
    join(view[me], carried[(location) * MESSAGES + message]);
    if
    :: carriedPlace[(location) * MESSAGES + message] > place[me] ->
        place[me] = carriedPlace[(location) * MESSAGES + message]
    :: else
    fi
}

inline load(me, location, order, result) {
    atomic {
        chosen = view[me].at[location];
        if :: order == SEQ -> d_step { afterPlaced(me, location); k = 0 } :: else fi;
        do :: chosen < last[location] -> chosen++ :: break od;
        d_step {
            result = value[(location) * MESSAGES + chosen];
            view[me].at[location] = chosen;
            if :: acquires(order) -> hear(me, location, chosen) :: else fi;
            if
            :: order == SEQ && placed[(location) * MESSAGES + chosen] > place[me] ->
                place[me] = placed[(location) * MESSAGES + chosen]
            :: else
            fi;
            chosen = 0
        }
    }
}

/* Within a d_step. */
inline append(me, location, order, new) {
    last[location]++;
    assert(last[location] < MESSAGES);
    view[me].at[location] = last[location];
    value[(location) * MESSAGES + last[location]] = new;
    if
    :: order == SEQ ->
        places++;
        place[me] = places;
        placed[(location) * MESSAGES + last[location]] = places
    :: else
    fi;
    if
    :: releases(order) ->
        join(carried[(location) * MESSAGES + last[location]], view[me]);
        carriedPlace[(location) * MESSAGES + last[location]] = place[me]
    :: else
    fi;
    carried[(location) * MESSAGES + last[location]].at[location] = last[location]
}

inline store(me, location, order, new) {
    d_step { append(me, location, order, new) }
}

/* Within a d_step. */
inline replace(me, location, order, new, old) {
    old = newest(location);
    if :: acquires(order) -> hear(me, location, last[location]) :: else fi;
    append(me, location, order, new);
    join(carried[(location) * MESSAGES + last[location]], carried[(location) * MESSAGES + last[location] - 1]);
    carried[(location) * MESSAGES + last[location]].at[location] = last[location];
    if
    :: carriedPlace[(location) * MESSAGES + last[location] - 1] > carriedPlace[(location) * MESSAGES + last[location]] ->
        carriedPlace[(location) * MESSAGES + last[location]] = carriedPlace[(location) * MESSAGES + last[location] - 1]
    :: else
    fi
}

inline exchange(me, location, order, new, old) {
    d_step { replace(me, location, order, new, old) }
}

inline compareExchange(me, location, order, expected, new, done) {
    d_step {
        if
        :: newest(location) == expected -> replace(me, location, order, new, done); done = 1
        :: else -> done = 0
        fi
    }
}

/* Plain memory. */
inline wrote(me, location) {
    d_step { last[location]++; view[me].at[location] = last[location] }
}

#define needs(me, location) assert(view[me].at[location] == last[location])

/* What is there before anything runs: everybody has seen it. */
inline initially(location, first) { value[(location) * MESSAGES] = first }

inline choose() {
    c_code {
        char *number = getenv("WEAK"), *order = getenv("WEAKER");
        now.weak = number ? atoi(number) : 0;
        now.weaker = order ? atoi(order) : 0;
    }
}
