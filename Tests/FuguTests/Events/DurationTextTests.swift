import Fugu
import FuguInspection
import Support
import Testing

@Suite("Durations as text") struct DurationTextTests {
    @Test(
        "A duration is written with three digits and the unit that suits them",
        arguments: [
            (0, "0 ns"), (1, "1 ns"), (999, "999 ns"), (1_000, "1 µs"), (1_234, "1.23 µs"), (9_994, "9.99 µs"),
            (9_995, "10 µs"), (12_340, "12.3 µs"), (99_949, "99.9 µs"), (99_950, "100 µs"), (999_499, "999 µs"),
            (999_500, "1 ms"), (999_499_999, "999 ms"), (999_500_000, "1 s"), (61_000_000_000, "61 s"),
            (7_200_000_000_000, "7200 s"),
        ])
    func text(nanoseconds: Int, text: String) {
        expect(Duration.nanoseconds(nanoseconds).shortText, equals: text)
    }
}
