import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import type { Entry } from "./entry.ts"
import { fileSpool } from "./file-spool.ts"
import { memorySpool, type SpoolBounds } from "./spool.ts"

const entry = (ref: string, size = 0): Entry => ({
  kind: "decision",
  agentId: "agt_1",
  decision: { client_ref: ref, action: "act", args: "x".repeat(size) }
})
const refs = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  entries.map((one) => (one.kind === "settle" ? one.clientRef : one.decision.client_ref))
const gap = { agentId: "agt_1", from: "a", to: "b", count: 2, reason: "spool_full" } as const

let dir: string
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), "flyball-spool-"))))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

for (const [name, make] of [
  ["in memory", memorySpool],
  ["on disk", (bounds?: SpoolBounds) => fileSpool(join(dir, "spool"), bounds)]
] as const)
  describe(`a spool ${name}`, () => {
    it("gives entries in order and keeps them until they are removed", async () => {
      const spool = make()
      for (const ref of ["a", "b", "c"]) assert.isTrue(await spool.add(entry(ref)))
      assert.deepStrictEqual(refs(await spool.first(2)), ["a", "b"])
      await spool.remove(1)
      assert.deepStrictEqual(refs(await spool.first(9)), ["b", "c"])
      assert.strictEqual(spool.size(), 2)
      await spool.close()
    })

    it("refuses entries beyond its bounds, in number and bytes, and accepts more when there is room", async () => {
      const few = make({ maxBytes: 10_000, maxEntries: 2 })
      assert.deepStrictEqual(
        [await few.add(entry("a")), await few.add(entry("b")), await few.add(entry("c"))],
        [true, true, false]
      )
      await few.remove(1)
      assert.isTrue(await few.add(entry("d")))
      assert.isFalse(await few.add(entry("e", 20_000)))
      await few.close()
    })
  })

describe("a spool on disk", () => {
  const open = () => fileSpool(dir)

  it("is the same after it was opened again, gaps included", async () => {
    const first = open()
    for (const ref of ["a", "b"]) await first.add(entry(ref))
    await first.setGaps([gap])
    assert.deepStrictEqual(first.gaps(), [gap])
    await first.close()
    const second = open()
    assert.deepStrictEqual(refs(await second.first(9)), ["a", "b"])
    assert.deepStrictEqual(second.gaps(), [gap])
    await second.add(entry("c"))
    await second.remove(3)
    assert.deepStrictEqual(readdirSync(dir).sort(), ["gaps.json", "lock"])
    await second.close()
    assert.strictEqual(open().size(), 0)
  })

  it("counts a last line that a crash cut off as a gap, once, and keeps what stands before it", async () => {
    const first = open()
    await first.add(entry("a"))
    await first.close()
    const segment = readdirSync(dir).find((name) => name.endsWith(".ndjson"))!
    appendFileSync(join(dir, segment), '{"kind":"decision","agentI')
    for (let round = 0; round < 2; round++) {
      const spool = open()
      assert.deepStrictEqual(refs(await spool.first(9)), ["a"])
      assert.deepStrictEqual(
        spool.gaps().map(({ agentId, count, reason }) => [agentId, count, reason]),
        [["agt_1", 1, "crash"]]
      )
      await spool.close()
    }
  })

  it("keeps the outcome of a decision whose receipt nobody waited for", async () => {
    const { agentId, decision } = entry("a") as Extract<Entry, { kind: "decision" }>
    const first = open()
    await first.add({ kind: "outcome", agentId, decision, settlement: { status: "ok" } })
    await first.close()
    assert.deepInclude((await open().first(9))[0]!, { kind: "outcome", settlement: { status: "ok" } })
  })

  it("is refused where the folder is a link, or others can write to it", () => {
    symlinkSync(dir, `${dir}-link`)
    try {
      for (const link of [`${dir}-link`, `${dir}-link/`]) assert.throws(() => fileSpool(link), /is a link/)
    } finally {
      rmSync(`${dir}-link`)
    }
    for (const mode of [0o770, 0o702]) {
      chmodSync(dir, mode)
      assert.throws(open, /can be written by others/)
    }
  })

  it("counts what is no entry, and no gap: nothing in a folder stops what comes after it", async () => {
    const decision = { client_ref: "x", action: "act" }
    const lines = [
      "7",
      "null",
      "[]",
      "{}",
      JSON.stringify({ kind: "decision", decision }),
      JSON.stringify({ kind: "decision", agentId: "agt_1" }),
      JSON.stringify({ kind: "decision", agentId: "agt_1", decision: {} }),
      JSON.stringify({ kind: "settle", agentId: "agt_1" }),
      JSON.stringify({ kind: "settle", agentId: "agt_1", decisionId: "dec_1", clientRef: "a" }),
      JSON.stringify({ kind: "other", agentId: "agt_1", decision }),
      JSON.stringify(entry("a"))
    ]
    writeFileSync(join(dir, "000000000001.ndjson"), `${lines.join("\n")}\n`)
    const file = join(dir, "000000000001.ndjson")
    for (const [gaps, lost] of [
      ["{}", 6],
      ["7", 6],
      [JSON.stringify([null, 7, {}, { ...gap, count: "1" }, gap]), 9]
    ] as const) {
      writeFileSync(file, `${lines.join("\n")}\n`)
      writeFileSync(join(dir, "gaps.json"), gaps)
      const spool = open()
      assert.deepStrictEqual(refs(await spool.first(99)), ["a"])
      const crashes = spool.gaps().filter(({ reason }) => reason === "crash")
      assert.deepStrictEqual(
        crashes.map(({ agentId, count }) => [agentId, count]),
        [
          ["", lost],
          ["agt_1", 5]
        ]
      )
      await spool.close()
    }
  })

  it("keeps files to its owner, and deletes a segment when all of it was removed", async () => {
    const spool = open()
    for (let at = 0; at < 5; at++) await spool.add(entry(`r${at}`, 400_000))
    const segments = readdirSync(dir).filter((name) => name.endsWith(".ndjson"))
    assert.isAbove(segments.length, 1)
    for (const name of segments) assert.strictEqual(statSync(join(dir, name)).mode & 0o777, 0o600)
    await spool.remove(3)
    assert.strictEqual(readdirSync(dir).filter((name) => name.endsWith(".ndjson")).length, segments.length - 1)
    assert.deepStrictEqual(refs(await spool.first(9)), ["r3", "r4"])
    await spool.close()
  })

  it("is open once: a second use is refused, and the lock of a process that ended is taken over", async () => {
    const spool = open()
    assert.throws(open, /open in this process/)
    await spool.close()
    writeFileSync(join(dir, "lock"), "1")
    assert.throws(open, /used by process 1/)
    writeFileSync(join(dir, "lock"), "999999999")
    await open().close()
  })
})
