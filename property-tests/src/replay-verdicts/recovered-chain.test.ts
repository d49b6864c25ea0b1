/**
 * Verification of a chain that a recovery began: with the pack of the chain before it, and without. Decisions 0010 and
 * 0026 of core.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chain, Checkpointer, Packs, retiredChains } from "@flyball/core"
import { concatBytes } from "@flyball/evidence"
import { sqliteStorage } from "@flyball/storage-sql"
import { copyToFile } from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bounded, refund } from "../../../packages/testkit/src/recovery/bounded-site.ts"
import {
  putBack,
  recovered,
  type RecoverySite,
  session,
  siteOf
} from "../../../packages/testkit/src/recovery/recovery-world.ts"
import { replayed, type ReplayedPack } from "./replayed.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-recovered-"))
afterAll(() => rmSync(folder, { recursive: true }))

const packOf = (site: RecoverySite, options = {}) =>
  session(
    site,
    Effect.gen(function* () {
      const chunks = yield* Packs.use((packs) => packs.export({ kind: "full", disclose: "all" }))
      const gathered: Array<Uint8Array> = []
      yield* Effect.promise(async () => {
        for await (const chunk of chunks) gathered.push(Uint8Array.from(chunk))
      })
      return { pack: concatBytes(...gathered), vkey: (yield* Chain).vkey }
    }),
    options
  )

/** Packs of three chains, each begun by a recovery of the one before, oldest first. */
let packs: ReadonlyArray<string>
let vkey: string
/** The name of the chain in the middle. */
let middle: string
/** A pack of the first chain, from before the records that were lost. */
let early: string
/** A pack of a chain of the first one's name, with other records. */
let otherHistory: string

const world = Effect.gen(function* () {
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
  middle = retired[1]!.origin
  const other = siteOf(sqliteStorage({ file: join(folder, "other.db") }))
  const { agentId: another } = yield* bounded(other)
  for (let step = 0; step < 4; step++) yield* session(other, refund(another, 7 + step))
  otherHistory = join(folder, "other.evp")
  writeFileSync(otherHistory, (yield* packOf(other)).pack)
})

beforeAll(() => Effect.runPromise(world), 120_000)

const requested = (...previous: ReadonlyArray<string>): Promise<ReplayedPack> =>
  replayed(readFileSync(packs[2]!), vkey, ...previous.flatMap((path) => ["--previous", path]))

describe("a chain that a recovery began", { timeout: 60_000 }, () => {
  it("is recomputed after the packs of the previous chains, given in any order", async () => {
    for (const given of [
      [packs[0]!, packs[1]!],
      [packs[1]!, packs[0]!]
    ]) {
      const { notChecked, replay, status } = await requested(...given)
      assert.deepEqual(
        [status, replay?.verdicts, replay?.previous_missing],
        [0, { ok: 2 }, null],
        notChecked.join("\n")
      )
    }
  })

  it("cannot be recomputed without them, so no verdict is ok or wrong", async () => {
    for (const [given, follows] of [
      [[], middle],
      [[packs[1]!], "flyball.test/recovery"]
    ] as const) {
      const { notChecked, replay, status, text } = await requested(...given)
      assert.deepEqual([status, replay?.verdicts], [2, { withheld: 2 }])
      assert.include(
        notChecked[0],
        `This chain follows ${follows}. The records of the state carried over from it (agents, envelopes, sums of ` +
          "meters) are in that chain."
      )
      assert.include(
        text.replaceAll(/\s+/g, " "),
        "Give its full pack, with its parts, as --previous PACK: the operator makes it with flyball " +
          `export --kind full --disclose all --chain ${follows}.`
      )
    }
  })

  it("is not recomputed after packs of other chains, or of another history of the previous ones", async () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [
        [packs[0]!],
        new RegExp(
          `chain-0\\.evp is of flyball\\.test/recovery, which is not a chain that this one follows; it follows ` +
            `${middle}\\.`
        )
      ],
      [
        [packs[1]!, otherHistory],
        new RegExp(
          /this chain follows flyball\.test\/recovery of \d+ records with root /.source +
            /[0-9a-f]{64}, and .*other\.evp holds \d+ with root [0-9a-f]{64}\. They are /.source +
            /not the same history\./.source
        )
      ],
      [
        [packs[1]!, packs[0]!, packs[2]!],
        /last\.evp is of flyball\.test\/recovery~3-[0-9a-f]{8}, which is not a chain that this one follows/
      ]
    ]
    for (const [given, sentence] of cases) {
      const { notChecked, replay, status } = await requested(...given)
      assert.deepEqual([status, replay], [2, null])
      assert.match(notChecked[0]!, sentence)
    }
    const changed = join(folder, "changed.evp")
    const text = readFileSync(packs[1]!, "latin1")
    writeFileSync(changed, text.replace(/"as_of_ms":1/, '"as_of_ms":2'), "latin1")
    const { notChecked, status } = await requested(changed, packs[0]!)
    assert.strictEqual(status, 2)
    assert.match(notChecked[0]!, /the records of .*changed\.evp are not what that pack claims/)
  })
})

/** A chain that was recovered from an online backup: the copy holds records behind its last checkpoint. */
describe("a chain recovered from a copy that ends after its last checkpoint", { timeout: 60_000 }, () => {
  const file = (name: string): string => join(folder, name)
  let key: string
  /** Records that the checkpoint covers, and that the copy held. */
  let covered: number
  let stored: number

  const begun = Effect.gen(function* () {
    const site = siteOf(sqliteStorage({ file: file("live.db") }))
    const { agentId } = yield* bounded(site)
    yield* session(
      site,
      Effect.gen(function* () {
        yield* refund(agentId, 10)
        covered = (yield* Checkpointer.use(({ now }) => now)).size
        yield* refund(agentId, 20)
        stored = (yield* Chain.use((chain) => chain.head)).tree_size
        yield* copyToFile({ kind: "sqlite", file: file("live.db") }, file("copy.db"))
        yield* refund(agentId, 30)
        yield* Checkpointer.use(({ now }) => now)
      })
    )
    // What an auditor has from before the loss: more than the copy.
    writeFileSync(file("longer.evp"), (yield* packOf(site)).pack)
    const copy = { ...site, storage: sqliteStorage({ file: file("copy.db") }) }
    yield* recovered(copy)
    yield* session(copy, refund(agentId, 40))
    const last = yield* packOf(copy)
    key = last.vkey
    writeFileSync(file("after.evp"), last.pack)
    const [retired] = yield* session(copy, retiredChains)
    writeFileSync(
      file("old.evp"),
      (yield* packOf({ ...copy, storage: retired!.storage }, { readOnly: true, retired: true })).pack
    )
  })
  beforeAll(() => Effect.runPromise(begun), 120_000)

  it("reports how much of it the old pack covers, and is not taken for another history", async () => {
    const { notChecked, replay, status } = await replayed(
      readFileSync(file("after.evp")),
      key,
      "--previous",
      file("old.evp")
    )
    assert.isBelow(covered, stored)
    assert.strictEqual(status, 2)
    assert.deepEqual(
      Object.keys(replay?.verdicts ?? {}),
      ["withheld"],
      "what rests on the rest is neither right nor wrong"
    )
    assert.include(
      notChecked[0],
      `old.evp holds the first ${covered} of ${stored} records of flyball.test/recovery: it agrees with the ` +
        `last checkpoint of that chain that record 0 names. No checkpoint covered the ` +
        `${stored - covered} after them when it was retired`
    )
  })

  it("accepts a longer pack of the same history, and reports one that is too short to compare", async () => {
    const longer = await replayed(readFileSync(file("after.evp")), key, "--previous", file("longer.evp"))
    assert.match(
      longer.notChecked[0]!,
      new RegExp(
        `longer\\.evp holds \\d+ records of flyball\\.test/recovery, but this chain continues after the ` +
          `first ${stored}\\.`
      )
    )
    const short = await requested(packs[1]!, early)
    assert.match(
      short.notChecked[0]!,
      new RegExp(
        /early\.evp holds \d+ of \d+ records of flyball\.test\/recovery; this pack /.source +
          /does not show whether they are its first\./.source
      )
    )
  })
})
