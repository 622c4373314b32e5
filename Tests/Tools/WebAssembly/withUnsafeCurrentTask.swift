@unsafe struct UnsafeCurrentTask { private let address: UInt }

/// The toolchain has no concurrency for this target.
@unsafe func withUnsafeCurrentTask<R>(_ body: (UnsafeCurrentTask?) -> R) -> R { body(nil) }
