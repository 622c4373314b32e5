import Fugu

@MainActor final class Sign {
    private(set) var text = ""

    func follow(_ container: Container) {
        let boards = container.values(of: Board.self)
        Task { [weak self] in
            for await board in boards { self?.text = board.title }
        }
    }
}
