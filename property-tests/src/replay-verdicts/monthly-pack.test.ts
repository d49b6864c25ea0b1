/** Verification of a range pack: with the pack of the records before it, and without. Decision 0026 of core. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chain, Checkpointer, Packs } from "@flyball/core"
import type { PackRequest } from "@flyball/contract"
import { concatBytes } from "@flyball/evidence"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bounded, refund } from "../../../packages/testkit/src/recovery/bounded-site.ts"
import { type RecoverySite, session, siteOf } from "../../../packages/testkit/src/recovery/recovery-world.ts"
import { replayed, type ReplayedPack } from "./replayed.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-monthly-"))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string): string => join(folder, name)

const exported = (site: RecoverySite, request: PackRequest) =>
  session(
    site,
    Effect.gen(function* () {
      yield* Checkpointer.use(({ now }) => now)
      const chunks = yield* Packs.use((packs) => packs.export({ ...request, disclose: "all" }))
      const gathered: Array<Uint8Array> = []
      yield* Effect.promise(async () => {
        for await (const chunk of chunks) gathered.push(Uint8Array.from(chunk))
      })
      return { pack: concatBytes(...gathered), vkey: (yield* Chain).vkey }
    })
  )
const sizeOf = (pack: Uint8Array): number =>
  (JSON.parse(new TextDecoder().decode(pack).split("\n")[1]!.slice(2)) as { readonly tree_size: number }).tree_size

let month: Uint8Array
let vkey: string
let from: number

const world = Effect.gen(function* () {
  const site = siteOf(sqliteStorage({ file: file("store.db") }))
  const { agentId } = yield* bounded(site)
  yield* session(site, refund(agentId, 4_000))
  const last = yield* exported(site, { kind: "full" })
  from = sizeOf(last.pack)
  writeFileSync(file("last-month.evp"), last.pack)
  // The second one is above the budget only together with that of the month before.
  for (const amount of [4_500, 2_900]) yield* session(site, refund(agentId, amount))
  const range = yield* exported(site, { kind: "range", from })
  month = range.pack
  vkey = range.vkey
  writeFileSync(file("longer.evp"), (yield* exported(site, { kind: "full" })).pack)
  writeFileSync(file("shorter.evp"), (yield* exported(site, { kind: "range", from: 0, to: from - 2 })).pack)
  writeFileSync(file("later.evp"), (yield* exported(site, { kind: "range", from: 1, to: from - 1 })).pack)
  const other = siteOf(sqliteStorage({ file: file("other.db") }))
  const { agentId: another } = yield* bounded(other)
  yield* session(other, refund(another, 7))
  writeFileSync(file("other-history.evp"), (yield* exported(other, { kind: "range", from: 0, to: from - 1 })).pack)
})

beforeAll(() => Effect.runPromise(world), 120_000)

const requested = (...previous: ReadonlyArray<string>): Promise<ReplayedPack> =>
  replayed(month, vkey, ...previous.flatMap((path) => ["--previous", path]))

describe("a monthly pack", { timeout: 60_000 }, () => {
  it("is recomputed after the pack of the previous months", async () => {
    const { notChecked, replay, status } = await requested(file("last-month.evp"))
    assert.deepEqual([status, replay?.verdicts], [0, { ok: 2 }], notChecked.join("\n"))
  })

  it("cannot be recomputed alone, so no verdict of it is ok", async () => {
    const { replay, status } = await requested()
    assert.deepEqual([status, replay?.verdicts.ok], [2, undefined])
  })

  it("is not recomputed after a pack that it does not continue", async () => {
    const cases: ReadonlyArray<readonly [name: string, sentence: string]> = [
      ["shorter.evp", `ends at record ${from - 2}, and this pack begins at record ${from}: the records between`],
      ["longer.evp", `Give a pack that ends at record ${from - 1}.`],
      ["later.evp", "does not have all records of flyball.test/recovery from record 0 on."],
      ["other-history.evp", `this pack does not continue ${file("other-history.evp")}: record ${from} names another`]
    ]
    for (const [name, sentence] of cases) {
      const { notChecked, replay, status } = await requested(file(name))
      assert.deepEqual([status, replay], [2, null], name)
      assert.include(notChecked[0], sentence)
    }
  })

  it("is not recomputed after a pack of another chain, or two of its own", async () => {
    const vector = new URL("../../../fixtures/vectors/flyball-format/valid-full-5.evp", import.meta.url).pathname
    const strange = await requested(vector)
    assert.deepEqual([strange.status, strange.replay], [2, null])
    assert.include(strange.notChecked[0], "no pack given with --previous is of flyball.test/recovery")
    const beside = await requested(file("last-month.evp"), vector)
    assert.deepEqual([beside.status, beside.replay], [2, null])
    assert.include(beside.notChecked[0], "which is not a chain that this one follows")
    const twice = await requested(file("last-month.evp"), file("last-month.evp"))
    assert.include(twice.notChecked[0], "are both of flyball.test/recovery. Give one of them.")
  })
})
