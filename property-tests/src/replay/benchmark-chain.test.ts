/** The chain that benchmarks recompute is one that the service would record: else they measure refusals. */
import { nodeCrypto } from "@flyball/evidence/node"
import { type PartContent, Recomputation } from "@flyball/rules"
import { expect, it } from "vitest"
import { begin, evaluationsAfter } from "../../../benchmarks/replay/chain.ts"

it("replays without a difference, reviews and settlements included", async () => {
  const begun = await begin(2)
  const { origin, records } = begun.pack
  const again = new Recomputation({ fromGenesis: true, crypto: nodeCrypto, longestWindowMs: 3_600_000, origin })
  const before = records.map(({ at, body, kind, parts }) => ({
    at,
    body,
    kind,
    parts: parts.map(({ disclosed, name }) => ({ bytes: disclosed!.bytes, name }))
  }))
  const kinds = new Set<string>()
  const wrong: Array<unknown> = []
  let seq = 0
  for (const { at, body, kind, parts } of [
    ...before,
    ...evaluationsAfter(begun, { agents: 2, evaluations: 400, stepMs: 100 })
  ]) {
    const present = parts.map(({ bytes, name }): readonly [string, PartContent] => [name, { state: "present", bytes }])
    const found = again.take({ seq: seq++, kind, body, parts: new Map(present) }, Date.parse(at))
    if (found !== null && found.verdict !== "ok") wrong.push(found)
    kinds.add(kind)
  }
  expect(wrong).toEqual([])
  for (const kind of ["evaluation.made", "review.opened", "decision.settled"]) expect(kinds).toContain(kind)
})
