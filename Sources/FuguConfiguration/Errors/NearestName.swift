/// Finds the name that a user may have meant.
package struct NearestName {
    /// The remaining number of letter comparisons: ten thousand errors against ten thousand names are listed quickly,
    /// and the first of them get a suggestion.
    private var effort = 4_000_000
    /// The prepared candidates of the last call, which the next call usually needs again.
    private var prepared: (names: [String], letters: [Letters])?

    package init() {}

    /// Returns the known name with the fewest edits from `name`, or `nil` if that takes more edits than a third of
    /// its letters without the words at its ends that both have, so that `redis-host` isn't `redis-port` misspelled.
    ///
    /// If several names are equally near, it returns the first.
    package static func suggestion(for name: String, among known: some Sequence<String>) -> String? {
        var nearest = NearestName()
        return nearest.suggestion(for: name, in: Array(known))
    }

    mutating func suggestion(for name: String, in known: [String]) -> String? {
        guard name.utf8.count <= 800 else { return nil }
        let letters = Letters(name)
        guard (1...200).contains(letters.scalars.count), effort > 0 else { return nil }
        if prepared?.names != known { prepared = (known, known.map(Letters.init)) }
        var best: (name: String, distance: Int)?
        for (candidate, other) in zip(known, prepared!.letters) {
            let limit = best?.distance ?? max(1, letters.scalars.count / 3)
            effort -= 1
            guard effort > 0 else { break }
            guard letters.canBe(within: limit, of: other) else { continue }
            effort -= letters.scalars.count * other.scalars.count
            let ownLimit = max(1, letters.countWithoutWords(of: other) / 3)
            guard let distance = letters.distance(to: other, limit: min(limit, ownLimit)) else { continue }
            if let best, (best.distance, best.name) <= (distance, candidate) { continue }
            best = (candidate, distance)
        }
        return best?.name
    }
}

/// A name in lowercase.
private struct Letters {
    let scalars: [UInt32]
    /// A set of the scalars, several of which share a bit.
    let set: UInt64

    init(_ name: String) {
        scalars = name.lowercased().unicodeScalars.map(\.value)
        set = scalars.reduce(0) { $0 | 1 << UInt64($1 & 63) }
    }

    /// Returns `false` if the distance must be greater than the limit, without counting.
    ///
    /// An edit changes the length by at most one, and adds or removes at most one letter of each kind.
    func canBe(within limit: Int, of other: Letters) -> Bool {
        abs(scalars.count - other.scalars.count) <= limit && (set & ~other.set).nonzeroBitCount <= limit
            && (other.set & ~set).nonzeroBitCount <= limit
    }

    /// Returns the number of scalars between the words at the beginning and at the end that both names have.
    func countWithoutWords(of other: Letters) -> Int {
        let start = Self.sharedWords(scalars, other.scalars)
        let (rest, otherRest) = (scalars.dropFirst(start), other.scalars.dropFirst(start))
        return rest.count - Self.sharedWords(rest.reversed(), otherRest.reversed())
    }

    /// Returns the number of scalars of the words with which both names begin.
    private static func sharedWords(_ first: [UInt32], _ second: [UInt32]) -> Int {
        let length = zip(first, second).prefix { $0 == $1 }.count
        func isEnd(_ scalars: [UInt32]) -> Bool { length == scalars.count || isSeparator(scalars[length]) }
        if isEnd(first), isEnd(second) { return length }
        return first[..<length].lastIndex(where: isSeparator) ?? 0
    }

    private static func isSeparator(_ scalar: UInt32) -> Bool {
        scalar == UInt8(ascii: ".") || scalar == UInt8(ascii: "-") || scalar == UInt8(ascii: "_")
    }

    /// Returns the number of insertions, removals, replacements, and swaps of neighbors that lead to the other name,
    /// or `nil` if there are more than `limit`.
    func distance(to other: Letters, limit: Int) -> Int? {
        let (first, second) = (scalars, other.scalars)
        var beforeLast = [Int](repeating: 0, count: second.count + 1)
        var last = Array(0...second.count)
        var row = beforeLast
        for i in first.indices {
            row[0] = i + 1
            var least = row[0]
            for j in second.indices {
                var cost = min(last[j] + (first[i] == second[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row[j + 1] = cost
                least = min(least, cost)
            }
            guard least <= limit else { return nil }
            (beforeLast, last, row) = (last, row, beforeLast)
        }
        return last[second.count] <= limit ? last[second.count] : nil
    }
}
