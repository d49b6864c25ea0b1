/** The tables of the tier floor and of the tier gate, from the code that decides by them. */
import { tierConditionWords } from "@flyball/contract"
import { tierGate } from "@flyball/rules"
import { effectClasses } from "../../packages/envelope/src/language/envelope.ts"
import { tierFloorTable } from "../../packages/envelope/src/language/tier-floor.ts"
import { code } from "./code.ts"

/** One line per effect class: the least restrictive outcome at each tier. */
export const tierFloorMarkdown = (): string =>
  [
    "| effect class | L0 | L1 | L2 | L3 | L4 |",
    "|---|---|---|---|---|---|",
    ...effectClasses.map((effect) => `| ${[effect, ...tierFloorTable[effect]].map((one) => code([one])).join(" | ")} |`)
  ].join("\n")

/** One line per condition: from which tier it is needed, and what losing it does to an active agent. */
export const tierGateMarkdown = (): string =>
  [
    "| condition | from | an active agent that loses it |",
    "|---|---|---|",
    ...tierGate.map(
      ({ from, lost, needs }) =>
        `| ${tierConditionWords[needs] ?? needs} | ${from} | ` +
        `${lost === "suspends" ? "is suspended after a time" : "acts at a lower tier at once"} |`
    )
  ].join("\n")
