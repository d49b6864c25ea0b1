import { assert, describe, it } from "vitest"
import { changeProblem } from "./bounds.ts"
import type { RecordDraft } from "./port.ts"

const good: RecordDraft = {
  kind: "decision.witnessed",
  agentId: "agt_a",
  body: {},
  parts: [
    { name: "args", bytes: new Uint8Array(1) },
    { name: "result", bytes: new Uint8Array(1) }
  ],
  once: { scope: "agt_a", key: "r1", digest: "a".repeat(64) }
}
const once = good.once!
const bad: ReadonlyArray<Partial<RecordDraft>> = [
  { kind: "Bad kind" },
  { agentId: "" },
  { agentId: "\0" },
  { parts: [{ name: "Args", bytes: new Uint8Array(0) }] },
  { parts: good.parts.toReversed() },
  { parts: [good.parts[0]!, good.parts[0]!] },
  {
    parts: Array.from({ length: 33 }, (_, index) => ({
      name: `p${String(index).padStart(2, "0")}`,
      bytes: new Uint8Array(0)
    }))
  },
  { once: { ...once, scope: "\ud800" } },
  { once: { ...once, key: "" } },
  { once: { ...once, key: "\0" } },
  ...[
    "A".repeat(64),
    "a".repeat(63),
    "a".repeat(65),
    ...Array.from("/:@Gg`\u0130\u2030", (wrong) => `${"09af".repeat(16).slice(1)}${wrong}`),
    undefined,
    new Uint8Array(64)
  ].map((digest) => ({ once: { ...once, digest: digest as string } }))
]

describe("drafts that no store takes", () => {
  it("are found alone and wherever they stand, with the same words", () => {
    for (const [index, change] of bad.entries()) {
      const wrong = { ...good, ...change }
      const alone = changeProblem({ records: [wrong] })
      assert.isNotNull(alone, `case ${index}`)
      const words = alone!.replace("Draft 0", "")
      for (const before of [
        good,
        { ...good, parts: [], agentId: null },
        { kind: good.kind, agentId: good.agentId, body: {}, parts: [] }
      ]) {
        assert.strictEqual(changeProblem({ records: [before, wrong, good] }), `Draft 1${words}`, `case ${index}`)
      }
    }
  })

  it("are not made of good ones", () => {
    assert.isNull(
      changeProblem({
        records: [
          good,
          good,
          { ...good, agentId: null, parts: [] },
          { ...good, kind: "decision.settled" },
          { ...good, once: { ...once, digest: "09af".repeat(16) } }
        ]
      })
    )
  })
})
