/** Quotas: what was settled counts once, what is promised counts until it lapses, and no promise passes the limit. */
import { Effect } from "effect"
import { LIMIT } from "../quota-acts.ts"
import type { Checker } from "./checked.ts"

const PAGE = 1_000

/** See the file's first line. */
export const quotasChecker: Checker = ({ ledger, ports: { storage } }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const stored = new Map(
      (yield* storage.list("reservations", { limit: PAGE })).map(({ body, id }) => [
        id,
        body as { readonly name: string; readonly amount: number; readonly lapsed: boolean }
      ])
    )
    const expected = new Map<string, number>()
    const count = (name: string, amount: number) => expected.set(name, (expected.get(name) ?? 0) + amount)
    for (const { amount, lapsed, name } of stored.values()) count(name, lapsed ? 0 : amount)
    for (const { actual, id, name } of ledger.reservations.values())
      if (stored.has(id)) continue
      else if (actual === null) problems.push(`${id} was acknowledged, and is gone`)
      else count(name, actual)
    for (const [name, value] of expected) {
      const [counted] = yield* storage.counters([name])
      if (counted !== value) problems.push(`${name} counts ${counted}, where it comes to ${value}`)
      if (name.includes(":tokens:") && counted! > LIMIT) problems.push(`${name} counts ${counted} of ${LIMIT}`)
    }
    return problems.map((problem) => `quotas: ${problem}`)
  })
