/// Who needs what is read, as far as it is a load or the like.
struct Need {
    var frame: (any CallFrame)?
    /// The outermost frame on this thread or task.
    var outermost: (any CallFrame)?
    /// Why it must not be had.
    var cycle: LoadCycle?
    /// How often something was waited for that was made from old values.
    var outdatedCount = 0
    /// Whether the load that is waited for was begun by this read, in a task of its own.
    var hasBegun = false
}

/// The way of a load that needs itself, or that is nested too deeply to be anything else.
struct LoadCycle {
    enum Kind {
        case cycle, tooDeep
        /// A feature that belongs to the whole family was made from something that the asker overrides.
        case overridden
    }
    let way: [Key]
    let kind: Kind
}

extension Node {
    /// Returns who needs what is read now: what runs on this thread or task, or, where nothing does, the load whose
    /// handle is used.
    func need(_ token: LockToken, _ key: Key, through recorder: Load?) -> Need {
        let (current, outermost) = Current.unfinishedAndOutermost
        let frame = current ?? recorder
        var cycle = cycle(token, of: key, neededBy: frame)
        // A handle that another load lent: what runs here waits in its own name, but that load must not need itself either.
        if cycle == nil, let recorder, let current, current !== recorder {
            if !current.chain.contains(where: { $0 === recorder }) {
                cycle = self.cycle(token, of: key, neededBy: recorder)
            }
        }
        return Need(frame: frame, outermost: outermost, cycle: cycle)
    }

    /// Returns whether a load needs itself, or is nested too deeply to be anything else.
    private func cycle(_ token: LockToken, of key: Key, neededBy parent: (any CallFrame)?) -> LoadCycle? {
        guard let parent else { return nil }
        let nesting = parent.nesting
        // The bits of several keys may be the same; who needs itself is in load.
        if nesting.mask & key.mask != 0, family.existingRootState(token, of: key)?[token].loads.isEmpty == false,
            parent.chain.contains(where: { $0.key == key && $0.family === family && $0 is Load })
        {
            return LoadCycle(way: parent.way + [key], kind: .cycle)
        }
        guard nesting.level >= 100, nesting.level >= Nesting.deepest || nesting.hasNoStackLeft else { return nil }
        return LoadCycle(way: parent.way + [key], kind: .tooDeep)
    }

    /// Returns the error of a cycle, or stops the program if reads of the requested kind cannot throw.
    func error(of cycle: LoadCycle, _ requested: Key) -> LoadError {
        let error: LoadError =
            switch cycle.kind {
            case .cycle: .cycle(cycle.way)
            case .tooDeep: .tooDeep(cycle.way)
            case .overridden: .overridden(cycle.way, of: requested)
            }
        guard requested.kind.throws else { fatalError(error.description) }
        return error
    }
}
