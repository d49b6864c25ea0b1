/**
 * `npm run slow -- drift [--rounds N]`: how often a comparison of two windows of real runs finds a change, where there
 * is none and where there is one, by our test and by others on the same windows. It writes the picture of docs/drift.md
 * anew, and prints the table of that page.
 */
import { writeFileSync } from "node:fs"
import { generator, wilson } from "@flyball/statistics"
import { driftPicture } from "../src/drift/picture.ts"
import { alarms, changes, rates, tests } from "../src/drift/rates.ts"
import { numbersOf } from "./options.ts"

/** Runs the measurement. True where the rate of false findings of windows of 100 and 200 may be between 3 and 7 %. Of
 * windows of 50 it is lower: a dozen runs have few orders. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { rounds = 200 } = numbersOf(args, ["rounds"])
  const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 100))
  writeFileSync(new URL("../../docs/drift.svg", import.meta.url), driftPicture())
  const cases = [
    ...[50, 100, 200].map((window) => ({ name: `nothing, window ${window}`, window, change: null, rounds })),
    ...Object.entries(changes).flatMap(([name, change]) =>
      [100, 200].map((window) => ({ name: `${name}, window ${window}`, window, change, rounds: Math.ceil(rounds / 5) }))
    )
  ]
  console.log(`| what changed | comparisons | ${tests.join(" | ")} |`)
  console.log(`|---|---|${tests.map(() => "---|").join("")}`)
  let isWithin = true
  for (const { change, name, rounds: times, window } of cases) {
    const { comparisons, found } = rates(window, times, random, change)
    const percent = (share: number): string => (100 * share).toFixed(1)
    const cells = tests.map((test) => {
      const share = found[test]! / comparisons
      const { high, low } = wilson(share, comparisons)
      if (change === null && window > 50 && test === "ours, 5 %") isWithin &&= high >= 0.03 && low <= 0.07
      return `${percent(share)} % (${percent(low)} to ${percent(high)})`
    })
    console.log(`| ${name} | ${comparisons} | ${cells.join(" | ")} |`)
  }
  for (const [name, change] of [["nothing", null], ...Object.entries(changes)] as const) {
    const { after, alarmed, streams } = alarms(Math.ceil(rounds / 15), random, change)
    const late = alarmed === 0 || change === null ? "" : `, after ${Math.round(after / alarmed)} runs on average`
    console.log(`Alarms where the second 64 of 128 runs changed by ${name}: ${alarmed} of ${streams}${late}.`)
  }
  return isWithin
}
