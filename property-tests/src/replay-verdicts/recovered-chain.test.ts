/** What a stranger makes of a chain that a recovery began: with the pack of the chain before it, and without. Decisions 0010 and 0026 of core. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chain, Packs, retiredChains } from "@flyball/core"
import { concatBytes } from "@flyball/evidence"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bounded, refund } from "../../../packages/testkit/src/recovery/bounded-site.ts"
import { putBack, recovered, type RecoverySite, session, siteOf } from "../../../packages/testkit/src/recovery/recovery-world.ts"
import { replayed, type ReplayedPack } from "./replayed.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-recovered-"))
afterAll(() => rmSync(folder, { recursive: true }))

const packOf = (site: RecoverySite, options = {}) => session(site, Effect.gen(function*() {
  const chunks = yield* Packs.use((packs) => packs.export({ kind: "full", disclose: "all" }))
  const gathered: Array<Uint8Array> = []
  yield* Effect.promise(async () => {
    for await (const chunk of chunks) gathered.push(Uint8Array.from(chunk))
  })
  return { pack: concatBytes(...gathered), vkey: (yield* Chain).vkey }
}), options)

/** Packs of three chains, each begun by a recovery of the one before, oldest first. */
let packs: ReadonlyArray<string>
let vkey: string
/** A pack of the first chain, from before the records that were lost. */
let early: string

const world = Effect.gen(function*() {
  const site = siteOf(sqliteStorage({ file: join(folder, "store.db") }))
  const { agentId } = yield* bounded(site)
  early = join(folder, "early.evp")
  writeFileSync(early, (yield* packOf(site)).pack)
  yield* session(site, refund(agentId, 100))
  for (const spent of [1_000, 2_000]) {
    putBack(site, 1)
    yield* recovered(site)
    yield* session(site, Effect.andThen(refund(agentId, spent), refund(agentId, 9_000)))
  }
  const last = yield* packOf(site)
  vkey = last.vkey
  const files: Array<string> = []
  const retired = yield* session(site, retiredChains)
  for (const [place, { storage }] of retired.entries()) {
    const { pack } = yield* packOf({ ...site, storage }, { readOnly: true, retired: true })
    files.push(join(folder, `chain-${place}.evp`))
    writeFileSync(files.at(-1)!, pack)
  }
  files.push(join(folder, "last.evp"))
  writeFileSync(files.at(-1)!, last.pack)
  packs = files
})

beforeAll(() => Effect.runPromise(world), 120_000)

const asked = (...previous: ReadonlyArray<string>): Promise<ReplayedPack> => replayed(readFileSync(packs[2]!), vkey, ...previous.flatMap((path) => ["--previous", path]))

describe("a chain that a recovery began", { timeout: 60_000 }, () => {
  it("is made again after the packs of the chains before it, in whatever order they are given", async () => {
    for (const given of [[packs[0]!, packs[1]!], [packs[1]!, packs[0]!]]) {
      const { notChecked, replay, status } = await asked(...given)
      assert.deepEqual([status, replay?.verdicts, replay?.previous_missing], [0, { ok: 2 }, null], notChecked.join("\n"))
    }
  })

  it("cannot be made again without them: nothing of it is called wrong, and nothing right", async () => {
    for (const [given, follows] of [[[], "flyball.test/recovery~2"], [[packs[1]!], "flyball.test/recovery"]] as const) {
      const { notChecked, replay, status, text } = await asked(...given)
      assert.deepEqual([status, replay?.verdicts], [2, { withheld: 2 }])
      assert.include(notChecked[0], `This chain follows ${follows}, and what was carried over from there (agents, envelopes, what meters held) has its records there.`)
      assert.include(text.replaceAll(/\s+/g, " "), `Give that chain's full pack, with its parts, as --previous PACK: the operator makes it with flyball export --kind full --disclose all --chain ${follows}.`)
    }
  })

  it("is not made again after packs of other chains, or of another history of those before it", async () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [[packs[0]!], /chain-0\.evp holds flyball\.test\/recovery, which is no chain that this one follows; it follows flyball\.test\/recovery~2\./],
      [[packs[1]!, early], /this chain follows flyball\.test\/recovery of \d+ records with root [0-9a-f]{64}, and .*early\.evp holds \d+ with root [0-9a-f]{64}\. They are not the same history\./],
      [[packs[1]!, packs[0]!, packs[2]!], /last\.evp holds flyball\.test\/recovery~3, which is no chain that this one follows/]
    ]
    for (const [given, sentence] of cases) {
      const { notChecked, replay, status } = await asked(...given)
      assert.deepEqual([status, replay], [2, null])
      assert.match(notChecked[0]!, sentence)
    }
    const changed = join(folder, "changed.evp")
    const text = readFileSync(packs[1]!, "latin1")
    writeFileSync(changed, text.replace(/"as_of_ms":1/, '"as_of_ms":2'), "latin1")
    const { notChecked, status } = await asked(changed, packs[0]!)
    assert.strictEqual(status, 2)
    assert.match(notChecked[0]!, /the records of .*changed\.evp are not what that pack claims/)
  })
})
