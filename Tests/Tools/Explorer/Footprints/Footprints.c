#define _GNU_SOURCE
#include "Footprints.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// One thread runs at a time, so that nothing here needs a lock, and what is recorded belongs to one step.

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

// ---- memory whose addresses are the same in every run

enum { region_size = 1 << 20, region_count = 1 << 14, fiber_count = 1 << 10, header_size = 16 };

typedef struct {
    uint32_t fiber, run, used, live;
    bool is_open;
} Region;

static unsigned char *arena;
static Region regions[region_count];
static uint32_t free_regions[region_count];
static uint32_t free_region_count;
/// For each fiber of this run, one more than the number of its region; zero if it has none.
static uint32_t region_of[fiber_count];
static uint32_t run = 1;

static bool is_running, is_recording;
static uint32_t current_fiber;
static uintptr_t stack_low, stack_high;

static bool is_ours(const void *address) {
    return arena && (unsigned char *)address >= arena
        && (unsigned char *)address < arena + (size_t)region_size * region_count;
}

static Region *region_at(const void *address) { return &regions[((unsigned char *)address - arena) / region_size]; }

static void make_arena(void) {
    arena = mmap(NULL, (size_t)region_size * region_count, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) abort();
    for (uint32_t index = region_count; index > 0; index--) free_regions[free_region_count++] = index - 1;
}

static void *allocate(size_t alignment, size_t size) {
    if (current_fiber >= fiber_count) return NULL;
    if (!arena) make_arena();
    if (region_of[current_fiber] == 0) {
        if (free_region_count == 0) return NULL;
        uint32_t index = free_regions[--free_region_count];
        region_of[current_fiber] = index + 1;
        regions[index] = (Region){current_fiber, run, 0, 0, true};
    }
    Region *region = &regions[region_of[current_fiber] - 1];
    if (alignment < 16) alignment = 16;
    size_t start = (region->used + header_size + alignment - 1) / alignment * alignment;
    if (size > region_size || start + size > region_size) return NULL;
    region->used = (uint32_t)(start + size);
    region->live++;
    unsigned char *address = arena + (region - regions) * (size_t)region_size + start;
    *(size_t *)(address - header_size) = size;
    return address;
}

static void reuse(Region *region) {
    if (!region->is_open && region->live == 0) free_regions[free_region_count++] = (uint32_t)(region - regions);
}

void footprints_end_run(void) {
    run++;
    // In an order in which the next run finds each fiber's memory where it was.
    for (uint32_t fiber = fiber_count; fiber > 0; fiber--) {
        uint32_t index = region_of[fiber - 1];
        if (index == 0) continue;
        region_of[fiber - 1] = 0;
        regions[index - 1].is_open = false;
        reuse(&regions[index - 1]);
    }
}

void *malloc(size_t size) {
    void *address = is_running ? allocate(16, size) : NULL;
    return address ? address : __libc_malloc(size);
}

void free(void *address) {
    if (!is_ours(address)) return __libc_free(address);
    Region *region = region_at(address);
    region->live--;
    reuse(region);
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    void *address = is_running ? allocate(16, bytes) : NULL;
    if (!address) return __libc_calloc(count, size);
    return memset(address, 0, bytes);
}

void *realloc(void *old, size_t size) {
    if (!old) return malloc(size);
    if (!is_ours(old)) return __libc_realloc(old, size);
    size_t before = *(size_t *)((unsigned char *)old - header_size);
    void *address = malloc(size);
    if (!address) return NULL;
    memcpy(address, old, before < size ? before : size);
    free(old);
    return address;
}

void *memalign(size_t alignment, size_t size) {
    void *address = is_running ? allocate(alignment, size) : NULL;
    return address ? address : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    *result = memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *address) {
    if (!address) return 0;
    if (is_ours(address)) return *(size_t *)((unsigned char *)address - header_size);
    static size_t (*platform)(void *);
    if (!platform) platform = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return platform(address);
}

// ---- what a step does

enum { table_size = 1 << 15, most_words = 1 << 13, runtime_word = 1 };

struct Footprint {
    bool is_everything;
    uint32_t read_count, write_count;
    uint64_t reads_filter[4], writes_filter[4];
    /// What was only read, in order, then what was written, in order.
    uint64_t words[];
};

static struct {
    uint64_t word;
    uint32_t step;
    bool is_write;
} table[table_size];
static uint32_t used[most_words];
static uint32_t used_count;
static uint32_t step = 1;
static bool is_everything;

static void find_stack(void) {
    static __thread uintptr_t low, high;
    if (!high) {
        pthread_attr_t attributes;
        void *start;
        size_t size;
        if (pthread_getattr_np(pthread_self(), &attributes) || pthread_attr_getstack(&attributes, &start, &size)) abort();
        pthread_attr_destroy(&attributes);
        low = (uintptr_t)start;
        high = low + size;
    }
    stack_low = low;
    stack_high = high;
}

void footprints_resume(uint32_t fiber, bool records) {
    find_stack();
    current_fiber = fiber;
    is_recording = records;
    is_running = true;
}

void footprints_pause(void) { is_running = false; }

bool footprints_hide(void) {
    bool was_running = is_running;
    is_running = false;
    return was_running;
}

void footprints_show(bool was_running) { is_running = was_running; }

static void use_word(uint64_t word, bool is_write) {
    uint32_t index = (uint32_t)((word * 0x9E3779B97F4A7C15u) >> 49);
    while (table[index].step == step && table[index].word != word) index = (index + 1) % table_size;
    if (table[index].step == step) {
        table[index].is_write |= is_write;
        return;
    }
    if (used_count == most_words) {
        is_everything = true;
        return;
    }
    table[index].word = word;
    table[index].step = step;
    table[index].is_write = is_write;
    used[used_count++] = index;
}

void footprints_use_runtime(void) {
    if (is_recording) use_word(runtime_word, true);
}

void footprints_use_everything(void) {
    if (is_recording) is_everything = true;
}

static int in_order(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static void note(uint64_t filter[4], uint64_t word) {
    uint64_t bits = (word * 0x9E3779B97F4A7C15u) >> 56;
    filter[bits / 64] |= 1ull << (bits % 64);
}

Footprint *footprints_take(void) {
    Footprint *result = __libc_malloc(sizeof(Footprint) + used_count * sizeof(uint64_t));
    memset(result, 0, sizeof(Footprint));
    result->is_everything = is_everything;
    for (int writes = 0; writes < 2; writes++) {
        uint32_t first = writes ? result->read_count : 0, count = 0;
        for (uint32_t index = 0; index < used_count; index++) {
            if (table[used[index]].is_write != (bool)writes) continue;
            uint64_t word = table[used[index]].word;
            result->words[first + count++] = word;
            note(writes ? result->writes_filter : result->reads_filter, word);
        }
        qsort(result->words + first, count, sizeof(uint64_t), in_order);
        *(writes ? &result->write_count : &result->read_count) = count;
    }
    is_everything = false;
    used_count = 0;
    step++;
    return result;
}

static bool meet(const uint64_t *one, uint32_t count, const uint64_t *other, uint32_t other_count) {
    uint32_t a = 0, b = 0;
    while (a < count && b < other_count) {
        if (one[a] == other[b]) return true;
        if (one[a] < other[b]) a++; else b++;
    }
    return false;
}

static bool filters_meet(const uint64_t one[4], const uint64_t other[4]) {
    return ((one[0] & other[0]) | (one[1] & other[1]) | (one[2] & other[2]) | (one[3] & other[3])) != 0;
}

bool footprint_conflicts(const Footprint *one, const Footprint *other) {
    if (one->is_everything || other->is_everything) return true;
    const uint64_t *writes = one->words + one->read_count, *other_writes = other->words + other->read_count;
    return (filters_meet(one->writes_filter, other->writes_filter)
               && meet(writes, one->write_count, other_writes, other->write_count))
        || (filters_meet(one->writes_filter, other->reads_filter)
            && meet(writes, one->write_count, other->words, other->read_count))
        || (filters_meet(one->reads_filter, other->writes_filter)
            && meet(one->words, one->read_count, other_writes, other->write_count));
}

void footprint_free(Footprint *footprint) { __libc_free(footprint); }

static void use(const void *address, size_t size, bool is_write) {
    if (!is_running || !is_recording) return;
    uintptr_t start = (uintptr_t)address;
    if (start >= stack_low && start < stack_high) return;
    for (uintptr_t word = start & ~(uintptr_t)7; word < start + size; word += 8) {
        uint64_t name = word;
        if (is_ours((void *)word)) {
            Region *region = region_at((void *)word);
            // Memory that an earlier run has left keeps its address.
            if (region->run == run) {
                name = 1ull << 62 | (uint64_t)region->fiber << 32 | (word - (uintptr_t)arena) % region_size;
            }
        }
        use_word(name, is_write);
    }
}

// ---- what the compiler's instrumentation calls

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}
void __tsan_external_write(void *address, void *caller, void *tag) {
    (void)caller, (void)tag;
    use(address, 8, true);
}
void __tsan_external_read(void *address, void *caller, void *tag) {
    (void)caller, (void)tag;
    use(address, 8, false);
}

#define ACCESS(size) \
    void __tsan_read##size(void *address) { use(address, size, false); } \
    void __tsan_write##size(void *address) { use(address, size, true); } \
    void __tsan_read_write##size(void *address) { use(address, size, true); } \
    void __tsan_unaligned_read##size(void *address) { use(address, size, false); } \
    void __tsan_unaligned_write##size(void *address) { use(address, size, true); } \
    void __tsan_unaligned_read_write##size(void *address) { use(address, size, true); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void *__tsan_memcpy(void *to, const void *from, size_t size) {
    use(from, size, false);
    use(to, size, true);
    return memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size) {
    use(from, size, false);
    use(to, size, true);
    return memmove(to, from, size);
}
void *__tsan_memset(void *to, int value, size_t size) {
    use(to, size, true);
    return memset(to, value, size);
}

#define ATOMIC(bits, type) \
    type __tsan_atomic##bits##_load(const volatile type *a, int order) { \
        (void)order; \
        use((void *)a, bits / 8, false); \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(volatile type *a, type value, int order) { \
        (void)order; \
        use((void *)a, bits / 8, true); \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST); \
    } \
    CHANGE(bits, type, exchange, __atomic_exchange_n) \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add) \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub) \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and) \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or) \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor) \
    type __tsan_atomic##bits##_compare_exchange_val( \
        volatile type *a, type expected, type desired, int order, int failure_order) { \
        (void)order, (void)failure_order; \
        use((void *)a, bits / 8, true); \
        __atomic_compare_exchange_n(a, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    }
#define CHANGE(bits, type, name, builtin) \
    type __tsan_atomic##bits##_##name(volatile type *a, type value, int order) { \
        (void)order; \
        use((void *)a, bits / 8, true); \
        return builtin(a, value, __ATOMIC_SEQ_CST); \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) { (void)order; __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order) { (void)order; }
