#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(WinSDK)
import WinSDK
#endif

/// The platform's own lock. `Synchronization.Mutex` would do, but on Linux its lock word lives in a library that the
/// thread sanitizer does not see, which makes it report races that are none.
struct PlatformLock {
    #if canImport(Darwin)
    private let word = UnsafeMutablePointer<os_unfair_lock>.allocate(capacity: 1)

    init() { word.initialize(to: os_unfair_lock()) }
    func lock() { os_unfair_lock_lock(word) }
    func unlock() { os_unfair_lock_unlock(word) }
    func destroy() { word.deallocate() }
    #elseif canImport(WinSDK)
    private let word = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)

    init() { InitializeSRWLock(word) }
    func lock() { AcquireSRWLockExclusive(word) }
    func unlock() { ReleaseSRWLockExclusive(word) }
    func destroy() { word.deallocate() }
    #elseif canImport(Glibc) || canImport(Musl) || canImport(Android)
    private let word = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(word, nil) }
    func lock() { pthread_mutex_lock(word) }
    func unlock() { pthread_mutex_unlock(word) }
    func destroy() {
        pthread_mutex_destroy(word)
        word.deallocate()
    }
    #else  // One thread: nothing to lock.
    func lock() {}
    func unlock() {}
    func destroy() {}
    #endif
}

/// A flag that one thread waits for and another one raises; the waiting thread sleeps.
struct PlatformSignal {
    #if canImport(WinSDK)
    private let lock = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)
    private let raised = UnsafeMutablePointer<Bool>.allocate(capacity: 1)

    init() {
        InitializeSRWLock(lock)
        InitializeConditionVariable(condition)
        raised.initialize(to: false)
    }
    func raise() {
        AcquireSRWLockExclusive(lock)
        raised.pointee = true
        WakeAllConditionVariable(condition)
        ReleaseSRWLockExclusive(lock)
    }
    func wait() {
        AcquireSRWLockExclusive(lock)
        while !raised.pointee { SleepConditionVariableSRW(condition, lock, INFINITE, 0) }
        ReleaseSRWLockExclusive(lock)
    }
    func destroy() {
        lock.deallocate()
        condition.deallocate()
        raised.deallocate()
    }
    #elseif canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let raised = UnsafeMutablePointer<Bool>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        raised.initialize(to: false)
    }
    func raise() {
        pthread_mutex_lock(mutex)
        raised.pointee = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
    func wait() {
        pthread_mutex_lock(mutex)
        while !raised.pointee { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }
    func destroy() {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
        raised.deallocate()
    }
    #else  // One thread: what it would wait for cannot come any more.
    func raise() {}
    func wait() {}
    func destroy() {}
    #endif
}

/// Gives the processor to another thread.
func yieldThread() {
    #if canImport(WinSDK)
    _ = SwitchToThread()
    #elseif canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    sched_yield()
    #endif
}
