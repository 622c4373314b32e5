/// The toolchain has no concurrency for this target.
func withUnsafeCurrentTask<R>(_ body: (Int?) -> R) -> R { body(nil) }
