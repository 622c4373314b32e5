import Fugu

@MainActor final class Sign {
    private(set) var text = ""

    func follow(_ container: Container) {
        container.observeOnMainActor(Board.self, while: self) { [weak self] board in
            self?.text = board.title
        }
    }
}
