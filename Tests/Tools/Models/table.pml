/* Looking for a cell while cells are made and the table grows (StorageReference.find), and for a value key while keys are
 * interned (InternedKey.find): a reader who has the address of something finds it whole, and what was there before it began
 * to look it finds.
 *
 * A table has two slots and grows to four with the second entry. What leads to the table is an address too: a container's
 * storage, or the first table of keys.
 */
#define THREADS 2
#define MESSAGES 3
#define BASE 0
#define TABLE 1
#define OLD 2  /* and 3 */
#define NEW 4  /* to 7 */
#define DONE 8
#define ATOMICS 9
/* Plain. */
#define HEADER 9
#define TABLES 10  /* and 11 */
#define ENTRIES 12  /* and 13 */
#define LOCATIONS 14
#include "memory.pml"

#define find_base 1
#define find_table 2
#define find_slot 3
#define publish_base 4
#define publish_table 5
#define publish_slot 6

#define ADDRESS 1

proctype Writer() {
    wrote(0, HEADER);
    wrote(0, TABLES);
    store(0, TABLE, RELAXED, OLD);
    store(0, BASE, ORDER(publish_base, RELEASE), ADDRESS);
    wrote(0, ENTRIES);
    store(0, OLD, ORDER(publish_slot, RELEASE), 1);
    store(0, DONE, RELEASE, 1);
    wrote(0, ENTRIES + 1);
    wrote(0, TABLES + 1);
    store(0, NEW + 1, ORDER(publish_slot, RELEASE), 1);
    store(0, TABLE, ORDER(publish_table, RELEASE), NEW);
    store(0, NEW + 2, ORDER(publish_slot, RELEASE), 2);
    store(0, DONE, RELEASE, 2)
}

proctype Reader() {
    byte reads, wanted, done, base, table, index, found;
    do
    :: reads < 2 ->
        if :: wanted = 1 :: wanted = 2 fi;
        load(1, DONE, ACQUIRE, done);
        load(1, BASE, ORDER(find_base, ACQUIRE), base);
        if
        :: base == ADDRESS ->
            needs(1, HEADER);
            load(1, TABLE, ORDER(find_table, ACQUIRE), table);
            assert(table == OLD || table == NEW);
            needs(1, TABLES + table / NEW);
            index = (table == NEW);
            do
            :: load(1, table + index, ORDER(find_slot, ACQUIRE), found);
               if
               :: found == 0 || index == 3 -> break
               :: else -> needs(1, ENTRIES + found - 1)
               fi;
               if :: found == wanted -> break :: else fi;
               index++;
               if :: table == OLD && index > 1 -> found = 0; break :: else fi
            od;
            assert(found == wanted || done < wanted)
        :: else -> assert(done == 0)
        fi;
        d_step { reads++; wanted = 0; done = 0; base = 0; table = 0; index = 0; found = 0 }
    :: else -> break
    od
}

init {
    atomic {
        choose();
        run Writer();
        run Reader()
    }
}
