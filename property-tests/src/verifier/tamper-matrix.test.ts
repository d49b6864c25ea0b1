/** Everything that somebody might do to a pack is found, and found as what it is. */
import { describe, expect, it } from "vitest"
import { chain, mutate, mutations } from "./mutations.ts"
import { check, codesOf, makePack } from "./packs.ts"

describe("the packs that the mutations start from", () => {
  for (const plan of [
    { kind: "full" },
    { kind: "full", older: 7 },
    { kind: "range", from: 3, to: 7 },
    { kind: "sparse", seqs: [1, 2, 4, 6, 9] }
  ] as const) {
    it(`are good: ${JSON.stringify(plan)}`, async () =>
      expect(await check(await makePack(chain, plan), chain)).toMatchObject({ exit: 0, findings: [] }))
  }
})

describe("the tamper matrix", () => {
  for (const mutation of mutations) {
    it(`${mutation.name}: ${mutation.codes.join(" ")}`, async () => {
      const report = await check(await mutate(mutation), chain)
      expect(codesOf(report), JSON.stringify(report.findings)).toEqual(mutation.codes)
      expect(report.exit).toBe(mutation.exit)
    })
  }
})
