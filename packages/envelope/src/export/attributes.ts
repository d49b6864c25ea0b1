/** The attributes that the caller of an exported policy has to pass, as text. */
import { isListed } from "../language/read-signals.ts"
import type { Combination } from "../compile/compile.ts"
import type { Axis } from "../language/compiled.ts"
import { MAX_TEXT } from "../language/limits.ts"
import type { TextCells } from "../language/text-cells.ts"

/** One line for each axis: its name, what it is, and who computes it. */
export const attributeLines = ({ compiled, signals }: Combination): ReadonlyArray<string> =>
  compiled.axes.map((axis) => {
    const { from = null, onMissing = null } = signals.find((signal) => signal.name === axis.name) ?? {}
    return (
      `${axis.name}: ${domainOf(axis)}${axis.mayBeAbsent ? ", or not there" : ""}` +
      (onMissing === null ? "" : `, ${JSON.stringify(onMissing)} if it is missing`) +
      (from === null ? computed[axis.origin] : ` (read it from the arguments, at ${JSON.stringify(from)})`)
    )
  })

/** Differences between an exported policy and an evaluation, one sentence each. */
export const leftOut = ({ meters, signals }: Combination): ReadonlyArray<string> => [
  ...(signals.some(isListed)
    ? ["Not in here: lists. Ask for each element of the arguments' list, and take the most restrictive answer"]
    : []),
  "Not in here: the tier floor, which asks for review or denies by the agent's tier and the effect of the tool",
  "Not in here: outer layers (the envelope of the org unit), which can only tighten what this says",
  ...(meters.length === 0
    ? []
    : [
        "Not in here: the bounds of meters, at which everything that adds is denied (@budget): " +
          `${meters.map(({ id, max, maxCount }) => `${id} holds ${maxCount} actions and at most ${max}`).join(", ")}`
      ])
]

const textOf = ({ base, form }: TextCells): string =>
  form === null
    ? `text of at most ${MAX_TEXT} characters`
    : `text in the normal form of ${form}${base === null ? "" : ` from ${base}`}, "" where it is unreadable`

const domainOf = ({ kind, max, min, text, values }: Axis): string =>
  kind === "int"
    ? `integer from ${min} to ${max}`
    : kind === "bool"
      ? "true or false"
      : text !== undefined
        ? textOf(text)
        : `one of ${values!.map((value) => JSON.stringify(value)).join(", ")}`

const computed: { readonly [origin in Axis["origin"]]: string } = {
  caller: "",
  args: "",
  server: " (the service says it)",
  derived: " (derived: compute it before asking)",
  meter: " (a meter, its value after this action: keep it, and give it)",
  latch: " (a latch of the run: keep it, and give it)"
}
