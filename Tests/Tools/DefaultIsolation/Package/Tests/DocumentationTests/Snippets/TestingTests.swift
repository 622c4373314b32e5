import Fugu
import FuguInspection
import FuguTesting
import Testing

extension Snippets {
    @Test("Testing: what was observed is waited for")
    func observationRecorder() async throws {
        let container = Container()
        try await run {
            let recorder = ObservationRecorder(\.timeout, in: container)
            container.timeout = 5
            print(recorder.values)  // [5]
            Task { container.timeout = 6 }
            print(await recorder.values(atLeast: 2))  // [5, 6]
        }
    }

    @Test("Testing: what was loaded, and by whom")
    func loadRecorder() async throws {
        let container = Container()
        try await run {
            let recorder = LoadRecorder(of: container)
            _ = container[RequestLog.self]
            print(recorder.loads)  // [RequestLog, RequestLog → Pool]
        }
    }
}
