/// Collects the errors of a check: the first fifty, and the number of the others.
///
/// An error is made only if it's shown, so a check of a million names takes little more than finding them.
struct Mistakes {
    /// The source and the name that an error is about.
    struct Subject: Hashable {
        let source, name: String?
    }

    private static let limit = 50

    private(set) var errors: [PropertyError] = []
    private(set) var count = 0
    /// The subjects of which nothing is collected.
    private let present: Set<Subject>
    /// The subjects, which are collected in place of errors.
    private var subjects: Set<Subject>?

    /// `present`: The subjects whose errors were there before, of which nothing is collected.
    init(except present: Set<Subject> = []) { self.present = present }

    /// Returns the subjects of what a closure adds.
    static func subjects(_ body: (inout Mistakes) -> Void) -> Set<Subject> {
        var mistakes = Mistakes()
        mistakes.subjects = []
        body(&mistakes)
        return mistakes.subjects!
    }

    mutating func add(_ source: String?, _ name: @autoclosure () -> String?, _ error: () -> PropertyError) {
        guard subjects == nil else {
            subjects!.insert(Subject(source: source, name: name()))
            return
        }
        guard present.isEmpty || !present.contains(Subject(source: source, name: name())) else { return }
        count += 1
        if errors.count < Self.limit { errors.append(error()) }
    }

    mutating func add(_ more: some Sequence<PropertyError>) {
        for error in more { add(error.source, error.name) { error } }
    }

    /// The errors, and one that says how many others there are.
    var list: [PropertyError] {
        count > errors.count ? errors + [PropertyError(ErrorText.more(count - errors.count))] : errors
    }

    /// Throws the errors if there are any.
    func check() throws { if count > 0 { throw PropertyErrors(list) } }
}
