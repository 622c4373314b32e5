import Synchronization

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

/// The platform's own lock, or a single word where that lock costs more than what it guards.
///
/// `Synchronization.Mutex` would do, but on Linux its lock word lives in a library that the thread sanitizer doesn't see,
/// so that it reports false races.
@safe struct PlatformLock {
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
    /// 0 if free, 1 if held, 2 if held while a thread may sleep.
    private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

    @inline(never) init() { unsafe word.initialize(to: Atomic(0)) }

    @inline(__always)
    func lock() {
        guard unsafe word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged else {
            return lockSlowly()
        }
    }

    @inline(__always)
    func unlock() {
        if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 { wakeSleepers() }
    }

    func destroy() { unsafe word.deallocate() }

    @inline(never)
    private func lockSlowly() {
        for look in 0..<100 {
            // The holder is usually done within a moment; if it doesn't run, yielding gives it the processor.
            if look >= 50, look.isMultiple(of: 10) { yieldThread() }
            if unsafe word.pointee.load(ordering: .relaxed) == 0,
                unsafe word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
            {
                return
            }
        }
        unsafe ParkingPlaces.all[word].wait { unsafe word.pointee.exchange(2, ordering: .acquiring) == 0 }
    }

    // Not a part of each function that unlocks.
    @inline(never)
    private func wakeSleepers() { unsafe ParkingPlaces.all[word].wakeAll() }
    #else  // One thread: nothing to lock.
    func lock() {}
    func unlock() {}
    func destroy() {}
    #endif
}

#if !canImport(Darwin) && (canImport(Glibc) || canImport(Musl) || canImport(Android))
/// A place where threads that wait for a lock sleep.
@safe struct PlatformParking {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    /// Sleeps until `isDone` returns `true`.
    ///
    /// The thread that makes it true calls `wakeAll` afterward.
    func wait(until isDone: () -> Bool) {
        unsafe pthread_mutex_lock(mutex)
        while !isDone() { unsafe pthread_cond_wait(condition, mutex) }
        unsafe pthread_mutex_unlock(mutex)
    }

    func wakeAll() {
        unsafe pthread_mutex_lock(mutex)
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }
}
#endif

/// A flag that one thread waits for and another one raises; the waiting thread sleeps.
@safe struct PlatformSignal {
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
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
        unsafe raised.initialize(to: false)
    }
    func raise() {
        unsafe pthread_mutex_lock(mutex)
        unsafe raised.pointee = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }
    func wait() {
        unsafe pthread_mutex_lock(mutex)
        while unsafe !raised.pointee { unsafe pthread_cond_wait(condition, mutex) }
        unsafe pthread_mutex_unlock(mutex)
    }
    func destroy() {
        unsafe pthread_mutex_destroy(mutex)
        unsafe pthread_cond_destroy(condition)
        unsafe mutex.deallocate()
        unsafe condition.deallocate()
        unsafe raised.deallocate()
    }
    #else  // One thread: what it would wait for cannot come any more.
    func raise() {}
    func wait() {}
    func destroy() {}
    #endif
}

extension Task<Never, Never> {
    /// Cancels the task that runs.
    static func cancelCurrent() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
}

/// Where code runs: on a thread, or in a task that may move between threads.
///
/// Asking for the thread costs a tenth of asking for the task.
package struct Execution: Equatable, Sendable {
    private let word: UInt

    /// The thread, for code that returns to its caller without suspending: until then, nothing else runs on the thread.
    package static var thread: Execution { Execution(word: threadNumber | 1) }
    /// The task, for code that may suspend and continue elsewhere, or the thread if no task runs.
    static var taskOrThread: Execution { Execution(word: task ?? (threadNumber | 1)) }
    /// No place: it's never current.
    static var none: Execution { Execution(word: 0) }

    /// Whether the calling code runs there.
    package var isCurrent: Bool { word & 1 == 1 ? self == .thread : word != 0 && word == Self.task }

    /// The address of the running task, which is even, unlike a thread's number.
    private static var task: UInt? {
        unsafe withUnsafeCurrentTask { task in unsafe task.map { unsafe unsafeBitCast($0, to: UInt.self) } }
    }

    private static var threadNumber: UInt {
        #if canImport(WinSDK)
        UInt(GetCurrentThreadId()) << 1
        #elseif canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #elseif canImport(Glibc) || canImport(Musl) || canImport(Android)
        UInt(pthread_self())
        #else
        0
        #endif
    }
}

/// A thread that may block forever without holding up tasks, unlike the threads that tasks share.
package enum PlatformThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread with a large stack, or here if the platform can't start one.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, 8 << 20)
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        let isStarted = unsafe pthread_create(&thread, &attributes, { unsafe Self.main($0) }, argument) == 0
        #else
        var thread = pthread_t()
        let isStarted = unsafe pthread_create(&thread, &attributes, { unsafe Self.main($0!) }, argument) == 0
        #endif
        if isStarted { return }
        unsafe Unmanaged<Body>.fromOpaque(argument).release()
        #endif
        body()
    }

    /// Blocks the calling thread for good.
    package static func blockForever() { Signal().wait() }

    private static func main(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
}

/// Gives the processor to another thread of the same priority.
func yieldThread() {
    #if FUGU_EXPLORE
    Exploring.yield()
    #endif
    #if canImport(WinSDK)
    _ = SwitchToThread()
    #elseif canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    sched_yield()
    #endif
}

/// Gives the processor to any other thread, also of lower priority, for at least a twentieth of a millisecond where there are
/// threads.
func sleepBriefly() {
    #if FUGU_EXPLORE
    Exploring.yield()
    #endif
    #if canImport(WinSDK)
    Sleep(1)
    #elseif canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    usleep(50)
    #endif
}

/// Memory from `malloc`: Swift's own raw memory always asks for an alignment, which takes the platform's slower way.
enum PlatformMemory {
    static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
        unsafe malloc(bytes)!
        #else
        .allocate(byteCount: bytes, alignment: 16)
        #endif
    }

    static func free(_ memory: UnsafeMutableRawPointer) {
        #if canImport(Darwin)
        Darwin.free(memory)
        #elseif canImport(Glibc)
        unsafe Glibc.free(memory)
        #elseif canImport(Musl)
        Musl.free(memory)
        #elseif canImport(Android)
        Android.free(memory)
        #else
        memory.deallocate()
        #endif
    }
}
