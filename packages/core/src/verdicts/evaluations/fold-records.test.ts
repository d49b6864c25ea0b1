import { assert, it } from "@effect/vitest"
import { WindowBook } from "@flyball/envelope"
import { Effect, Fiber } from "effect"
import { RECORDS_A_TURN } from "../../storage/each-record.ts"
import { Storage, type StorageApi, type StoredRecord } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { foldInto, readPage } from "./fold-records.ts"
import { ask, governedAgent } from "./testing/refunds.ts"

/** A book that counts how often it is touched. */
const touchedBook = () => {
  const counts = { touched: 0 }
  const book = new Proxy(new WindowBook(), {
    get: (own, name) => {
      counts.touched++
      const member: unknown = Reflect.get(own, name, own)
      return typeof member === "function" ? member.bind(own) : member
    }
  })
  return { book, counts }
}

it.live("a page is folded whole or not at all, where it ends at a fault or an interrupt", () =>
  Effect.gen(function* () {
    const { agentId } = yield* governedAgent()
    yield* ask(agentId, { tool: "refund", amount: 5 })
    const storage = yield* Storage
    const [made] = yield* storage.records({ kinds: ["evaluation.made"], limit: 1 })
    const fold = (page: ReadonlyArray<StoredRecord>, book: WindowBook) => {
      const only: StorageApi = { ...storage, records: () => Effect.succeed(page) }
      return Effect.map(readPage(only, 0, made!.seq), (read) => foldInto(book, read))
    }
    const whole = touchedBook()
    yield* fold([made!], whole.book)
    assert.isAbove(whole.counts.touched, 0)

    const broken = touchedBook()
    const failed = yield* Effect.flip(fold([made!, { ...made!, bytes: new Uint8Array(3) }], broken.book))
    assert.deepStrictEqual([failed._tag, broken.counts.touched], ["StorageCorrupt", 0])

    const cut = touchedBook()
    const long = Array.from({ length: RECORDS_A_TURN * 4 }, () => made!)
    const fiber = yield* Effect.forkChild(fold(long, cut.book), { startImmediately: true })
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(cut.counts.touched, 0)
  }).pipe(Effect.provide(governorWorld()))
)
