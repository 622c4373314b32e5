/// Converts a node and everything inside it to a value.
///
/// A list of open collections replaces recursion, which could overflow a small stack.
struct ValueBuilder {
    private struct Frame {
        let node: Node
        var next: Int32
        var elements: [PropertyValue] = []
        var members: [String: PropertyValue] = [:]

        var value: PropertyValue { node.kind == .array ? .array(elements) : .table(members) }

        init(_ node: Node) {
            self.node = node
            next = node.first
            if node.kind == .array { elements.reserveCapacity(Int(node.count)) }
        }
    }

    private let store: NodeStore
    private var open: [Frame] = []

    init(store: NodeStore) { self.store = store }

    mutating func value(of id: Int32) -> PropertyValue {
        let root = store.nodes[Int(id)]
        if let scalar = scalar(root) { return scalar }
        open = [Frame(root)]
        while true {
            let top = open.count - 1
            let child = open[top].next
            guard child < 0 else {
                step(to: store.nodes[Int(child)], from: top)
                continue
            }
            let frame = open.removeLast()
            guard top > 0 else { return frame.value }
            add(frame.value, frame.node, to: top - 1)
        }
    }

    private mutating func step(to node: Node, from top: Int) {
        open[top].next = node.next
        if node.kind == .null, open[top].node.kind == .table { return }
        if let scalar = scalar(node) { add(scalar, node, to: top) } else { open.append(Frame(node)) }
    }

    private mutating func add(_ value: PropertyValue, _ node: Node, to frame: Int) {
        if open[frame].node.kind == .array {
            open[frame].elements.append(value)
        } else {
            open[frame].members[store.string(node.key)] = value
        }
    }

    private func scalar(_ node: Node) -> PropertyValue? {
        switch node.kind {
        case .null: .table([:])
        case .bool: .bool(node.bool)
        case .flag: .bool(node.bool)
        case .integer: .integer(Int128(node.integer))
        case .double: .double(node.double)
        case .string, .text, .word: .string(store.string(node.text))
        case .other: store.others[node.otherIndex]
        case .array, .table: nil
        }
    }
}

/// Reads the numbers of both formats from bytes that are known to be well formed; it skips underscores.
enum DecimalNumber {
    /// Returns the integer in `range`, or `nil` if `Int64` can't represent it.
    static func integer(in bytes: [UInt8], _ range: Range<Int>, isNegative: Bool, radix: Int64 = 10) -> Int64? {
        var value: Int64 = 0
        for index in range {
            let byte = bytes[index]
            guard byte != UInt8(ascii: "_") else { continue }
            let digit = Int64(ByteClass.hexValue(byte) ?? 0)
            let (product, overflow) = value.multipliedReportingOverflow(by: radix)
            let (sum, carry) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// Returns the number nearest to the text in `range`, with or without a sign; it's infinite if it's too large.
    static func double(in bytes: [UInt8], _ range: Range<Int>) -> Double {
        shortDouble(in: bytes, range) ?? libraryDouble(in: bytes, range)
    }

    /// A mantissa up to 2^53 and a power of ten up to 10^22 are exact, so one division or product rounds once, and
    /// correctly.
    private static func shortDouble(in bytes: [UInt8], _ range: Range<Int>) -> Double? {
        var mantissa: UInt64 = 0
        var scale = 0
        var exponent = 0
        var isNegativeExponent = false
        var part = Part.whole
        for index in range {
            let byte = bytes[index]
            switch byte {
            case 0x30...0x39 where part == .exponent:
                exponent = exponent * 10 + Int(byte - 0x30)
                guard exponent < 1000 else { return nil }
            case 0x30...0x39:
                mantissa = mantissa * 10 + UInt64(byte - 0x30)
                guard mantissa < 1 << 53 else { return nil }
                if part == .fraction { scale -= 1 }
            case UInt8(ascii: "."): part = .fraction
            case UInt8(ascii: "e"), UInt8(ascii: "E"): part = .exponent
            case UInt8(ascii: "-") where part == .exponent: isNegativeExponent = true
            default: break
            }
        }
        let power = scale + (isNegativeExponent ? -exponent : exponent)
        guard power.magnitude <= 22 else { return nil }
        let value = Double(mantissa)
        let scaled = power < 0 ? value / powersOfTen[-power] : value * powersOfTen[power]
        return bytes[range.lowerBound] == UInt8(ascii: "-") ? -scaled : scaled
    }

    private enum Part { case whole, fraction, exponent }

    private static func libraryDouble(in bytes: [UInt8], _ range: Range<Int>) -> Double {
        let text = String(decoding: bytes[range].lazy.filter { $0 != UInt8(ascii: "_") }, as: UTF8.self)
        return Double(text) ?? .nan
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]
}

extension DecimalNumber {
    /// Returns the exact integer of decimal text, such as `1e3` and `5.00`, or `nil` if it isn't one or the type
    /// can't represent it.
    static func wholeNumber<Integer: FixedWidthInteger>(_ text: String) -> Integer? {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        guard let exponent = parts.count == 2 ? Int(String(parts[1]) ?? "") : 0, abs(exponent) < 10_000 else {
            return nil
        }
        var digits = parts[0]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        let sides = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        var written = Array(sides.joined())
        guard !written.isEmpty, written.allSatisfy(ByteClass.isDigit) else { return nil }
        var scale = exponent - (sides.count == 2 ? sides[1].count : 0)
        while scale < 0, written.last == UInt8(ascii: "0") {
            written.removeLast()
            scale += 1
        }
        guard let first = written.firstIndex(where: { $0 != UInt8(ascii: "0") }) else { return 0 }
        guard scale >= 0, written.count - first + scale <= 40 else { return nil }
        written += [UInt8](repeating: UInt8(ascii: "0"), count: scale)
        return Integer((isNegative ? "-" : "") + String(decoding: written[first...], as: UTF8.self))
    }
}

/// The form of a number in a text, as TOML has it.
enum NumberText {
    /// Returns the integer, in any radix of TOML, or with a fraction or an exponent that leave it whole.
    static func integer<Integer: FixedWidthInteger>(_ text: String) -> Integer? {
        if let (digits, radix) = digits(text) { return Integer(digits, radix: radix) }
        return plain(text).flatMap { Integer($0) ?? DecimalNumber.wholeNumber($0) }
    }

    /// Whether the text is the digits of an integer, maybe after a sign.
    static func isInteger(_ text: String) -> Bool {
        guard digits(text) == nil else { return true }
        let digits = unsigned(plain(text) ?? "")
        return !digits.isEmpty && digits.allSatisfy(ByteClass.isDigit)
    }

    /// Whether a digit follows a zero at the beginning.
    static func hasLeadingZero(_ text: String) -> Bool {
        let digits = unsigned(text)
        return digits.first == UInt8(ascii: "0")
            && digits.dropFirst().first.map { ByteClass.isDigit($0) || $0 == UInt8(ascii: "_") } == true
    }

    /// Returns a decimal number without underscores, or `nil` if it has a leading zero, or an underscore that isn't
    /// between digits.
    static func plain(_ text: String) -> String? {
        hasLeadingZero(text) ? nil : withoutUnderscores(text.utf8[...], ByteClass.isDigit)
    }

    private static func unsigned(_ text: String) -> Substring.UTF8View {
        let bytes = text.utf8[...]
        let isSigned = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+")
        return isSigned ? bytes.dropFirst() : bytes
    }

    /// Returns the digits behind `0x`, `0o`, or `0b`, and their radix.
    private static func digits(_ text: String) -> (String, radix: Int)? {
        let radix = text.hasPrefix("0x") ? 16 : text.hasPrefix("0o") ? 8 : text.hasPrefix("0b") ? 2 : 0
        guard radix > 0 else { return nil }
        func isDigit(_ byte: UInt8) -> Bool { ByteClass.hexValue(byte).map { $0 < radix } ?? false }
        let digits = withoutUnderscores(text.utf8.dropFirst(2), isDigit)
        return digits.flatMap { $0.isEmpty || !$0.utf8.allSatisfy(isDigit) ? nil : ($0, radix) }
    }

    private static func withoutUnderscores(_ bytes: Substring.UTF8View, _ isDigit: (UInt8) -> Bool) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard parts.count > 1 else { return String(Substring(bytes)) }
        for (left, right) in zip(parts, parts.dropFirst()) {
            guard let last = left.last, let first = right.first, isDigit(last), isDigit(first) else { return nil }
        }
        return String(decoding: parts.joined(), as: UTF8.self)
    }
}

extension NodeStore {
    /// Returns a number as it's written in the source, without underscores, or `nil` if it never was text.
    func numberText(at offset: UInt32) -> String? {
        guard offset != Node.noOffset else { return nil }
        let digits = bytes[Int(offset)..<end].prefix { byte in
            ByteClass.isDigit(byte) || byte | 0x20 == UInt8(ascii: "e") || [0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
        }
        let text = String(decoding: digits.lazy.filter { $0 != UInt8(ascii: "_") }, as: UTF8.self)
        return text.utf8.contains(where: ByteClass.isDigit) ? text : nil
    }
}
