import Fugu

/// The names that keys and the members of merged tables had before, by their present names.
enum FormerNames {
    private static let names = Locked<[String: [String]]>([:])

    /// Keeps what a form says of a name.
    ///
    /// A member of a merged table has the former names of its table, too.
    static func note(_ name: String, _ former: [String], isSecret: Bool) {
        guard !former.isEmpty else { return }
        if isSecret { former.forEach(SecretNames.add) }
        let members = MergedNames.members(of: name) ?? []
        names.withLock { names in
            names[name] = former
            for member in members { names[name + "." + member] = former.map { $0 + "." + member } }
        }
    }

    /// Returns the former names; mostly, there are none.
    static func of(_ name: String) -> [String] { names.withLock { $0[name] } ?? [] }
}

extension SourceStack.Entry {
    /// Returns the values that the source has for a name, if they're meant for a type: that under the name itself, and then those
    /// under its former names.
    func values(named name: String, as type: Any.Type? = nil) -> [LocatedValue] {
        let present = value(named: name, as: type)
        let former = formerNames(of: name).compactMap { old -> LocatedValue? in
            guard let value = value(named: old, as: type) else { return nil }
            application.warn(about: old) {
                ErrorText.renamed(
                    old, at: value.keyOrigin.description, to: snapshot.place(of: name) ?? name, isUsed: present == nil)
            }
            return value
        }
        return (present.map { [$0] } ?? []) + former
    }

    /// Returns the former name that the source uses in place of the name.
    func formerName(of name: String, as type: Any.Type) -> String? {
        guard value(named: name, as: type) == nil else { return nil }
        return formerNames(of: name).first { value(named: $0, as: type) != nil }
    }

    private func value(named name: String, as type: Any.Type?) -> LocatedValue? {
        snapshot.value(named: name).flatMap { $0.isMeant(for: type) ? $0 : nil }
    }

    /// Returns the former names that the source spells otherwise than the name.
    private func formerNames(of name: String) -> [String] {
        FormerNames.of(name).filter { snapshot.place(of: $0) != snapshot.place(of: name) }
    }
}

extension SourceStack {
    /// Returns the former name that the first source with a value for the name uses.
    func formerName(of name: String, as type: Any.Type) -> String? {
        let entry = entries.first { !$0.values(named: name, as: type).isEmpty }
        return entry?.formerName(of: name, as: type)
    }
}
