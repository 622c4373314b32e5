public import Fugu
import Synchronization

/// The sources of a container with the values that they had when they were last read, and what it declares.
///
/// It's immutable: applying, reloading, and declaring create another one.
final class SourceStack: ValueSupplier {
    /// A source and its values.
    final class Entry: Sendable {
        let source: any PropertySource
        let snapshot: PropertySnapshot
        /// The stamp from before the source was read, so that a change in between is noticed at the next poll.
        let stamp: PropertySourceStamp?
        /// The identity, which stays the same when the source is read again.
        let application: Application
        /// The moment from before the source was read or fetched.
        let began: ReadTime

        init(reading source: any PropertySource, _ application: Application) throws(PropertyError) {
            self.source = source
            self.application = application
            began = (source as? FetchedSource)?.began ?? ReadTime()
            stamp = source.modificationStamp()
            snapshot = try source.load()
        }

        /// The state of the source, and that of the files to which its values led.
        struct Look: Equatable {
            let source: PropertySourceStamp?
            let files: [Int64]
        }

        /// The state that was read, unless something has changed since.
        var readLook: Look { Look(source: stamp, files: []) }

        /// The present state.
        var presentLook: Look { Look(source: source.modificationStamp(), files: snapshot.fileStamp) }

        private init(_ entry: Entry, _ application: Application) {
            (source, snapshot, stamp, began) = (entry.source, entry.snapshot, entry.stamp, entry.began)
            self.application = application
        }

        /// Returns the same values for another container, which doesn't follow the source.
        func copied() -> Entry { Entry(self, Application()) }

        /// Returns the present values of the source.
        ///
        /// A source that was there and has vanished is an error, so that the last good values stay.
        func reread(_ source: any PropertySource) throws(PropertyError) -> Entry {
            let new = try Entry(reading: source, application)
            if new.snapshot.isMissing, !snapshot.isMissing {
                throw PropertyError(ErrorText.vanished, source: new.snapshot.source)
            }
            return new
        }
    }

    /// The application of a source to a container.
    ///
    /// When no container has the source any more, the source is no longer observed.
    final class Application: Sendable {
        private struct State {
            /// The closure that ends the observation.
            ///
            /// Stored as a generic value by itself, it would be wrapped once more at each access.
            var end: (@Sendable () -> Void)?
            var changes = 0
            /// The former names that were reported.
            var warned: Set<String> = []
        }

        private let state = Locked(State())
        private let report: @Sendable (String) -> Void

        init(report: @escaping @Sendable (String) -> Void = { _ in }) { self.report = report }

        /// Reports once that the source uses a former name.
        func warn(about name: String, _ text: () -> String) {
            if state.withLock({ $0.warned.insert(name).inserted }) { report(text()) }
        }

        /// The number of changes of which the source has notified.
        var changes: Int { state.withLock { $0.changes } }

        func noteChange() { state.withLock { $0.changes += 1 } }

        /// Keeps the closure that ends the observation.
        func follow(until end: (@Sendable () -> Void)?) { state.withLock { $0.end = end } }

        deinit { state.withLock { $0.end }?() }
    }

    /// What belongs to one container.
    struct Level: Sendable {
        /// The sources, the latest applied first.
        var entries: [Entry] = []
        var declarations = Declarations()
    }

    /// The container's own level first.
    ///
    /// A copy has one for each container that it was made from: what a child has hides what its parent has, and is never
    /// merged with it.
    let levels: [Level]
    /// The closure that receives the names that are read.
    let log: ReadLog?
    /// Stands for the sources: stacks that share it differ only in what they declare and log.
    private let mark: Mark

    private final class Mark: Sendable {}

    init(_ levels: [Level] = [Level()], log: ReadLog? = nil) {
        (self.levels, self.log, mark) = (levels, log, Mark())
    }

    private init(_ levels: [Level], log: ReadLog?, _ mark: Mark) {
        (self.levels, self.log, self.mark) = (levels, log, mark)
    }

    /// All sources, in order of precedence.
    var entries: [Entry] { levels.flatMap(\.entries) }

    /// Returns the values for the name, in order of precedence.
    ///
    /// Layers are independent of one another, unless a key merges the tables of each container.
    ///
    /// `skipsEmpty`: Whether an empty text is no value, as for a secret that is required.
    func values(
        named name: String, as type: Any.Type? = nil, isMerged: Bool = false, skipsEmpty: Bool = false
    ) -> some Sequence<LocatedValue> {
        levels.lazy.flatMap { level in
            let merged = isMerged ? level.mergedTable(named: name)?.located(name) : nil
            return merged.map { [$0] }
                ?? level.values(named: name, as: type).filter { !skipsEmpty || !$0.isEmptyText }
        }
    }

    /// Returns the first value for the name.
    func firstValue(
        named name: String, as type: Any.Type? = nil, isMerged: Bool = false, skipsEmpty: Bool = false
    ) -> LocatedValue? {
        for level in levels {
            if isMerged, let table = level.mergedTable(named: name) { return table.located(name) }
            if let value = level.values(named: name, as: type).first(where: { !skipsEmpty || !$0.isEmptyText }) {
                return value
            }
        }
        return nil
    }

    /// Returns the value for the name, decoded.
    func answer<Value: Decodable & Sendable>(
        _ name: String, as _: Value.Type, form: PropertyForm<Value>?, isSecret: Bool, isRequired: Bool = false
    ) -> SourceAnswer<Value> {
        let value = value(named: name, as: Value.self, form: form, isSecret: isSecret, isRequired: isRequired)
        log?.tell(name, value?.origin)
        guard let value else { return .success(nil) }
        if value.isSecret { SecretNames.addSupplied(name) }
        do throws(PropertyError) {
            return .success(try value.decode(Value.self, named: name, form: form, quotesValues: !isSecret))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the first value for the name, or the merged tables if a form says so.
    private func value<Value: Decodable>(
        named name: String, as type: Value.Type, form: PropertyForm<Value>?, isSecret: Bool, isRequired: Bool
    ) -> LocatedValue? {
        MergedNames.members(of: name, as: type, form)
        FormerNames.note(name, form?.formerNames ?? [], isSecret: isSecret)
        return firstValue(
            named: name, as: type, isMerged: form?.mergesTables == true, skipsEmpty: isSecret && isRequired)
    }

    /// Returns a Boolean value that indicates whether a name has the same value as in other sources, so that observers needn't be
    /// notified.
    func holdsTheSame(_ name: String, as others: SourceStack) -> Bool {
        if mark === others.mark { return true }
        if let members = MergedNames.members(of: name) {
            return ([name] + members.map { name + "." + $0 }).allSatisfy { holdsAllTheSame($0, as: others) }
        }
        let (own, its) = (firstValue(named: name), others.firstValue(named: name))
        guard let own, let its else { return own == nil && its == nil }
        // The type that's read may not be meant by the first value.
        return own.isSwitchedOff ? holdsAllTheSame(name, as: others) : own.isSame(as: its)
    }

    private func holdsAllTheSame(_ name: String, as others: SourceStack) -> Bool {
        let (own, its) = (Array(values(named: name)), Array(others.values(named: name)))
        return own.count == its.count && zip(own, its).allSatisfy { $0.isSame(as: $1) }
    }

    package func copied(over others: (any ValueSupplier)?) -> any ValueSupplier {
        let others = others as? SourceStack
        let own = levels.map { Level(entries: $0.entries.map { $0.copied() }, declarations: $0.declarations) }
        return SourceStack(own + (others?.levels ?? []), log: log ?? others?.log)
    }

    /// Returns the same sources with another log.
    func logging(to log: ReadLog?) -> SourceStack { SourceStack(levels, log: log, mark) }

    /// Returns the same sources with other declarations of the container's own, unless a closure says that it changes
    /// nothing.
    func declaring(_ change: (inout Declarations) -> Bool) -> SourceStack? {
        var levels = levels
        return change(&levels[0].declarations) ? SourceStack(levels, log: log, mark) : nil
    }

    /// Returns the sources with another one before all.
    func adding(_ entry: Entry) -> SourceStack {
        var levels = levels
        levels[0].entries.insert(entry, at: 0)
        return SourceStack(levels, log: log)
    }

    /// Returns the sources after a change of each level.
    func changingEntries<E>(_ change: ([Entry]) throws(E) -> [Entry]) throws(E) -> SourceStack {
        var levels = levels
        for index in levels.indices { levels[index].entries = try change(levels[index].entries) }
        return SourceStack(levels, log: log)
    }

    /// Returns the sources with another one in the place of the first that has a name, and without the rest of them.
    ///
    /// If none has it, the other one is put before all.
    func replacing(_ name: String, by entry: Entry) -> SourceStack {
        var isPlaced = false
        let new = changingEntries { entries in
            entries.compactMap { old in
                guard old.source.name == name else { return old }
                defer { isPlaced = true }
                return isPlaced ? nil : entry
            }
        }
        return isPlaced ? new : adding(entry)
    }

    /// Returns the same sources, some of them with their present values, and the sources that can't be read.
    ///
    /// Those keep their values, as fetched ones do.
    ///
    /// `isWanted`: A closure that says whether to read a source again.
    func reread(
        _ isWanted: (Entry) -> Bool, _ readings: inout SourceReadings
    ) -> (stack: SourceStack, failures: [Failure]) {
        var failures: [Failure] = []
        let fresh = changingEntries { entries in
            entries.map { entry in
                guard isWanted(entry), !(entry.source is FetchedSource) else { return entry }
                do throws(PropertyError) {
                    return try readings.present(entry)
                } catch {
                    failures.append(Failure(application: entry.application, error: error))
                    return entry
                }
            }
        }
        return (fresh, failures)
    }

    /// A source that can't be read.
    struct Failure {
        let application: Application
        let error: PropertyError
    }
}

/// A moment in the order of all reads of sources.
struct ReadTime: Sendable {
    private static let last = Atomic<Int>(0)
    private let number = last.add(1, ordering: .sequentiallyConsistent).newValue

    func isAfter(_ other: ReadTime) -> Bool { number > other.number }
}

/// What one reload has read, which it uses again after another change of the sources came before it.
struct SourceReadings {
    /// What has been searched for unknown names, which takes longest.
    var searched: [SourceStack.Entry] = []
    private let began = ReadTime()
    private var read: [ObjectIdentifier: (old: SourceStack.Entry, new: Result<SourceStack.Entry, PropertyError>)] = [:]

    /// Returns whether the reload has to read the source.
    ///
    /// What others began to read after the reload began is as new as it has to be.
    func lacks(_ entry: SourceStack.Entry) -> Bool {
        !entry.began.isAfter(began) && read[ObjectIdentifier(entry.application)]?.old !== entry
    }

    /// Reads the source again, unless that's done.
    mutating func read(_ entry: SourceStack.Entry, _ source: any PropertySource) {
        let new = Result { () throws(PropertyError) in try entry.reread(source) }
        read[ObjectIdentifier(entry.application)] = (entry, new)
    }

    /// Returns the present values of the source.
    mutating func present(_ entry: SourceStack.Entry) throws(PropertyError) -> SourceStack.Entry {
        if lacks(entry) { read(entry, entry.source) }
        guard let known = read[ObjectIdentifier(entry.application)], known.old === entry else { return entry }
        return try known.new.get()
    }
}

extension SourceStack.Level {
    /// Returns the values for the name, in order of precedence.
    func values(named name: String, as type: Any.Type? = nil) -> some Sequence<LocatedValue> {
        entries.lazy.flatMap { $0.values(named: name, as: type) }
    }

    /// Returns the merged tables of the name, down to a source that has another value there.
    func mergedTable(named name: String) -> MergedTable? {
        var table = MergedTable()
        for entry in entries {
            let value = entry.values(named: name, as: MergedTable.self).first
            let whole = value?.written
            if let whole, whole.node.kind != .table { break }
            // A text of its own for a member comes before the text of the table.
            if value?.node.kind != .table {
                for member in MergedNames.members(of: name) ?? [] {
                    let path = member.split(separator: ".").map(String.init)
                    if let value = entry.values(named: name + "." + member).first { table.add(value, at: path[...]) }
                }
            }
            if let whole { table.add(whole) }
        }
        return table.isEmpty ? nil : table
    }
}

extension Container {
    /// Reads a source, and gives its values to reads here and in descendants.
    ///
    /// Its values come before those of sources that were applied earlier, and after what code and rules set here. All
    /// keys with a name see the values together, and observers are notified. A value that doesn't have the type of its
    /// key doesn't stop the program: a read gives the default, and the problem is reported once (see
    /// `handleReports(by:)`).
    ///
    /// A source that notifies of its changes, such as ``MutableSource``, is read again at each of them for as long as
    /// the container lives; a copy of the container keeps the values of the moment it was made, until you reload it. A
    /// change that can't be used is reported. Several threads can apply sources at the same time.
    ///
    /// - Parameter source: The source.
    /// - Throws: ``PropertyError`` if the source can't be read, or ``PropertyErrors`` if it has a wrong value for a required
    ///   key that was read or is observed. Nothing changes then.
    /// - Complexity: O(*n* + *k* × *s*) for a source with *n* bytes, *k* names that were read or are observed, and *s* sources here.
    public func apply(_ source: some PropertySource) throws {
        try read(source) { entry in
            try changeSources { $0.adding(entry) }
        }
    }

    /// Replaces the sources of this container that have a name with another source.
    ///
    /// All keys with a name see the change together, and observers are notified. It's refused where ``reload(checksUnread:)``
    /// would be. The other source takes the place of the one that was applied last; if none has the name, it's applied.
    ///
    /// - Parameters:
    ///   - name: The ``PropertySource/name`` of the sources to replace.
    ///   - source: The other source.
    /// - Throws: ``PropertyError`` if the source can't be read, or ``PropertyErrors`` with all problems. Nothing changes then.
    /// - Complexity: O(*n* + *k*) for *n* bytes in all sources and *k* names that were read, are observed, or were
    ///   declared.
    public func replaceSources(named name: String, with source: some PropertySource) throws {
        try read(source) { entry in
            var readings = SourceReadings()
            while true {
                let old = sources
                let new = (old ?? SourceStack()).replacing(name, by: entry)
                if try publish(new, over: old, &readings) != nil { return }
            }
        }
    }

    /// Removes the sources of this container that have a name.
    ///
    /// What they hid is read again, and observers are notified. Sources of ancestors and children stay.
    ///
    /// - Parameter name: The ``PropertySource/name`` of the sources.
    /// - Throws: ``PropertyErrors`` if a required key that was read or is observed would be left without a value. Nothing
    ///   changes then.
    /// - Complexity: O(*s* + *k*) for *s* sources of this container and *k* names that were read or are observed.
    public func removeSources(named name: String) throws {
        try changeSources { old in
            let new = old.changingEntries { $0.filter { $0.source.name != name } }
            return new.entries.count == old.entries.count ? nil : new
        }
    }

    /// Reads every source of this container again, and publishes all values together.
    ///
    /// A reader that saw one new value never sees an old one afterward. Sources of ancestors and children aren't read. Nothing
    /// changes at all if a source can't be read or has vanished, if a key that was read, is observed, or was declared would
    /// become wrong, or if a required one would lose its value. Declared keys, unknown names, and conditions are checked as
    /// `validate` checks them. A mistake that was there before the reload doesn't refuse it.
    ///
    /// A file that another process is writing can be read half written; ``reload(every:)`` says how to write files that
    /// are read while they change.
    ///
    /// A loaded feature keeps the values that it was loaded from, unless it reloads. The summary names such features, and debug builds
    /// and tests report each of them once:
    ///
    /// ```swift
    /// print(try container.reload())  // Changed: pool.size. Pool keeps the old pool.size.
    /// ```
    ///
    /// - Parameter checksUnread: Pass `false` to check only keys that were read or are observed.
    /// - Returns: The names that changed, and the loaded features that keep an old value.
    /// - Throws: ``PropertyErrors`` with all problems, or the first fifty and their number.
    /// - Complexity: O(*n* + *k*) for *n* bytes in all sources and *k* names that were read, are observed, or were
    ///   declared, and, if one of them has changed, O(*i*) for *i* instances here and below and their inputs.
    @discardableResult
    public func reload(checksUnread: Bool = true) throws -> ReloadSummary {
        try reload({ _ in true }, checksUnread: checksUnread) ?? ReloadSummary()
    }

    /// Reads sources again.
    ///
    /// - Parameters:
    ///   - isWanted: A closure that says whether to read a source again.
    ///   - checksUnread: Whether to check declared keys that nothing has read.
    ///   - skip: A closure that receives the sources that can't be read and keep their values. If there's none, they're errors.
    ///   - isGood: A closure that says whether to use what was read.
    /// - Returns: What has changed, or `nil` if it wasn't used.
    /// - Throws: ``PropertyErrors`` with all problems.
    func reload(
        _ isWanted: (SourceStack.Entry) -> Bool, checksUnread: Bool = true,
        skip: (([SourceStack.Failure]) -> Void)? = nil, if isGood: (SourceStack) -> Bool = { _ in true }
    ) throws -> ReloadSummary? {
        var readings = SourceReadings()
        while let old = sources, old.entries.contains(where: isWanted) {
            let (new, failures) = old.reread(isWanted, &readings)
            guard skip != nil || failures.isEmpty else { throw PropertyErrors(failures.map(\.error)) }
            skip?(failures)
            guard isGood(new) else { return nil }
            if let summary = try publish(new, over: old, checksUnread: checksUnread, &readings) { return summary }
        }
        return ReloadSummary()
    }

    /// Replaces sources unless something would become wrong.
    ///
    /// - Returns: What has changed, or `nil` if others have replaced `old`, and nothing was done.
    func publish(
        _ new: SourceStack, over old: SourceStack?, checksUnread: Bool = true, _ readings: inout SourceReadings
    ) throws -> ReloadSummary? {
        var checksUnread = checksUnread
        let changed = try replaceSources(old, by: new) { mistakes in
            // What was read has the first word, so that each error comes once.
            try refuse(mistakes, of: new)
            if checksUnread { try check(new, over: old ?? SourceStack(), &readings) }
            checksUnread = false
        }
        return changed.map { ReloadSummary(of: $0, in: self, new, over: old ?? SourceStack()) }
    }

    /// Gives the container what a closure makes of its sources, or leaves them if that's nothing.
    ///
    /// Only what would stop the program at the next read is refused.
    func changeSources(_ change: (SourceStack) throws -> SourceStack?) throws {
        while true {
            let old = sources
            guard let new = try change(old ?? SourceStack()) else { return }
            let isDone = try replaceSources(old, by: new) { mistakes in
                try refuse(mistakes.filter(\.isFatal), of: new)
            }
            if isDone != nil { return }
        }
    }

    private func refuse(_ mistakes: [SourceMistake], of new: SourceStack) throws {
        guard !mistakes.isEmpty else { return }
        let ancestors = Array(allSources.dropFirst())
        var list = Mistakes()
        list.add(
            mistakes.lazy.map { mistake in
                guard let error = mistake.error else {
                    return self.missing(mistake.name, label: mistake.name, in: [new] + ancestors)
                }
                return error as? PropertyError ?? PropertyError("\(error)")
            })
        try list.check()
    }

    // MARK: Sources that notify of changes

    /// Reads a source, gives it to a closure that puts it among the container's, and follows it from then on.
    private func read(_ source: some PropertySource, _ place: (SourceStack.Entry) throws -> Void) throws {
        let application = SourceStack.Application { [weak self] in self?.report($0) }
        let end = source.observeChanges { [weak self, weak application] in
            application?.noteChange()
            guard let self, let application else { return }
            readAgain(application)
        }
        application.follow(until: end)
        let changes = application.changes
        let entry = try SourceStack.Entry(reading: source, application)
        warnTest(entry.snapshot.warning)
        try place(entry)
        // A change before the source had its place found nothing to read again.
        if application.changes != changes { readAgain(application) }
    }

    private func readAgain(_ application: SourceStack.Application) {
        do {
            _ = try reload { $0.application === application }
        } catch {
            report(ErrorText.notReloaded("\(error)"))
        }
    }
}

extension Container {
    /// Sets a closure that is called whenever the sources of this container are asked for a name.
    ///
    /// That happens at the first read of a name after a source was applied or reloaded, at each reload that changes the
    /// value, and when the name is validated or explained.
    ///
    ///     container.handleSourceReads { name, origin in print("\(name): \(origin?.description ?? "nothing")") }
    ///
    /// - Parameter handler: A closure that receives the dotted name and the place of its value, or `nil` if no source has one. It's
    ///   called on the thread that asks and outside every lock. Pass `nil` to end the log.
    public func handleSourceReads(by handler: (@Sendable (_ name: String, _ origin: PropertyOrigin?) -> Void)?) {
        let log = handler.map(ReadLog.init)
        // No value changes, so nothing is refused.
        try? changeSources { $0.logging(to: log) }
    }
}

/// The closure that receives the names that are read.
struct ReadLog: Sendable {
    let tell: @Sendable (_ name: String, _ origin: PropertyOrigin?) -> Void
}
