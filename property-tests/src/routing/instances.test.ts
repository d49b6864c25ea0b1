/** The solver of routes on published instances, at fixed iterations: the gap to the best known plans stays small. */
import { readFileSync } from "node:fs"
import { checkPlan, routingMatrix, solveRoutes } from "@flyball/rules"
import { describe, expect, it } from "vitest"
import { readInstance } from "../../../packages/rules/src/testing/routing-instances.ts"
import { runs } from "../runs.ts"

const folder = new URL("../../../fixtures/routing/", import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), "utf8")

/** Iterations between two readings of the clock. */
const CLOCK_EVERY = 32

describe("solveRoutes on published instances", () => {
  const gaps: ReadonlyArray<readonly [file: string, percent: number, iterations: number]> = [
    ["X-n106-k14.vrp", 2, 20_000],
    ["X-n200-k36.vrp", 2.5, 20_000],
    ["X-n331-k15.vrp", 4, 20_000],
    ["C101.txt", 0.01, 20_000],
    ["R104.txt", 3, 20_000],
    ["R204.txt", 6, 20_000],
    ["RC105.txt", 3, 20_000],
    ["RC1_10_5.vrp", 20, runs(10_000, 100_000)]
  ]
  for (const [file, percent, iterations] of gaps)
    it(`comes within ${percent} % for ${file}`, () => {
      const { problem, best } = readInstance(read(file), read(file.replace(/\.\w+$/u, ".sol")))
      const matrix = routingMatrix(problem.distances)
      let time = 0
      const search = { seed: "a", maxMs: iterations / CLOCK_EVERY, now: () => time++, stop: () => false }
      const { plan } = solveRoutes(problem, matrix, search)
      expect(checkPlan(problem, matrix, plan)).toBe(null)
      expect(plan.unassigned).toEqual([])
      expect((plan.cost / best - 1) * 100).toBeLessThan(percent)
    })
})
