import Foundation
import Support
import Testing

@Suite struct QuickStartTests {
    @Test("The tour prints what its comments promise")
    func tour() async throws {
        let result = try await BuiltProgram("QuickStart").run()
        expect(result.exitCode, equals: 0)
        expect(result.errors, equals: "")
        expect(
            result.output,
            equals: """
                1. Read: a container loads a feature once, from its other keys.
                   (a greeter is loaded)
                   Hello, Ada!
                   Hello, Grace!

                2. Set: use something repeatable instead of what reaches outside.
                   the date   2001-09-09T01:46:40Z
                   two ids    00000000-0000-0000-0000-000000000000, 00000000-0000-0000-0000-000000000001
                   five dice  3 3 6 3 4
                   Ahoj, Ada!

                3. Observe: hear of every change, in order, until you cancel the token.
                   the greeting is now Good morning
                   the greeting is now Good evening

                4. Isolate: two containers share nothing.
                   here   Good night
                   there  Hello
                   within Welcome, it is 86400 seconds since 1970
                   after  Hello

                """)
    }
}
