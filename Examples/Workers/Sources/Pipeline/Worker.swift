import Fugu

/// Does one job after the other, each attempt in its own container.
struct Worker {
    let container: Container

    func perform(_ job: Job) async -> Outcome {
        let limit = container.attemptLimit
        var pause = container.firstPause
        var attempt = 1
        while true {
            let result = await result(of: job, attempt)
            guard case .failed = result, attempt < limit else {
                return Outcome(job: job, attempts: attempt, result: result)
            }
            do {
                try await container.clock.sleep(for: pause)
            } catch {
                return Outcome(job: job, attempts: attempt, result: .cancelled)
            }
            pause *= 2
            attempt += 1
        }
    }

    private func result(of job: Job, _ attempt: Int) async -> Outcome.Result {
        do {
            // Closed however the attempt ends: what it opened is given back before the next one begins.
            let words = try await container.withChild {
                $0.job = job
                $0.attempt = attempt
            } operation: {
                try await WordCount(container: $0).perform(job)
            }
            return .words(words)
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed(error)
        }
    }
}
