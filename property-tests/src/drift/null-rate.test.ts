/** Runs of real agents in a random order: nothing changes, and the test of behaviour finds next to nothing. */
import { readFileSync } from "node:fs"
import { generator, wilson } from "@flyball/statistics"
import { assert, describe, it } from "vitest"
import { runs } from "../runs.ts"
import { changes, chiSquareTail, rates } from "./rates.ts"
import { driftPicture } from "./picture.ts"

const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 33))

describe("behaviour change on reshuffled runs of tau-bench and tau2-bench", () => {
  it("is found about as often as the test says, and by others much more often", () => {
    const { comparisons, found } = rates(50, runs(10, 100), random)
    // Five in a hundred, with room for the chance of the smaller round.
    const { low } = wilson(found["ours, 5 %"]! / comparisons, comparisons)
    assert.isAtMost(low, 0.05)
    for (const other of ["chi-square, one sample, 5 %", "PSI from 0.25", "JS distance from 0.1"])
      assert.isAbove(found[other]! / comparisons, 0.25, other)
  })

  it("is found where there is one", () => {
    const change = changes["half of the calls of the top tool go to another"]!
    const { comparisons, found } = rates(200, runs(3, 30), random, change)
    assert.isAbove(found["ours, 5 %"]! / comparisons, 0.5)
  })

  it("compares with the chi-square distribution as published", () => {
    // Abramowitz and Stegun, table 26.8.
    assert.closeTo(chiSquareTail(3.84146, 1), 0.05, 1e-5)
    assert.closeTo(chiSquareTail(19.6751, 11), 0.05, 1e-5)
    assert.closeTo(chiSquareTail(42.557, 29), 0.05, 1e-5)
  })

  it("is as docs/drift.svg shows it", () =>
    assert.strictEqual(driftPicture(), readFileSync(new URL("../../../docs/drift.svg", import.meta.url), "utf8")))
})
