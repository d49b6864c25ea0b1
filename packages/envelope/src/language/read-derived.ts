/** Reads `derived`. Spec: `SPEC.md` section 4. */
import { derivedFunctions } from "./derived.ts"
import type { Derived, DerivedFunction, Signal } from "./envelope.ts"
import { MAX_ARGS, MAX_DERIVED, MAX_VALUE_TEXT } from "./limits.ts"
import { quote, type Reading } from "./reading.ts"

const functions = Object.keys(derivedFunctions) as ReadonlyArray<DerivedFunction>
/** Functions whose arguments are added to, or compared with, each other. */
const sameUnit: ReadonlySet<string> = new Set(["difference@1", "sum@1", "min@1", "max@1"])

/** The derived signals by name; those that could not be read are left out. */
export const readDerived = (
  reading: Reading,
  value: unknown,
  signals: ReadonlyArray<Signal>
): ReadonlyArray<Derived> => {
  const members = value === undefined ? {} : (reading.map(value, "/derived", MAX_DERIVED) ?? {})
  return Object.keys(members)
    .sort()
    .flatMap((name) => {
      const path = `/derived/${name}`
      if (reading.name(name, "/derived") === null) return []
      if (signals.some((signal) => signal.name === name) || name === "tier" || name === "tool") {
        reading.say("E103", path, `The name ${quote(name)} is that of a signal. Choose another.`)
        return []
      }
      const derived = readOne(reading, name, members[name], path, signals)
      if (derived !== null) return [derived]
      reading.unreadable.add(name)
      return []
    })
}

const readOne = (
  reading: Reading,
  name: string,
  value: unknown,
  path: string,
  signals: ReadonlyArray<Signal>
): Derived | null => {
  const members = reading.object(value, path, ["fn", "args"])
  if (members === null) return null
  const fn = readFunction(reading, members["fn"], `${path}/fn`)
  const names = reading
    .list(members["args"], `${path}/args`, 1, MAX_ARGS)
    ?.map((arg, i) => reading.text(arg, `${path}/args/${i}`, MAX_VALUE_TEXT))
  if (fn === null || names === undefined || names.includes(null)) return null
  const args = names.map((arg, i) => {
    const signal = signals.find((candidate) => candidate.name === arg)
    if (signal === undefined)
      return reading.unknown(
        arg ?? "",
        `${path}/args/${i}`,
        `There is no signal ${quote(arg ?? "")}. Name an int signal of this envelope.`
      )
    return signal.type === "int"
      ? signal
      : reading.say(
          "E113",
          `${path}/args/${i}`,
          `An argument is an int signal, and ${signal.name} is of type ${signal.type}.`
        )
  })
  const ints = args.filter((arg) => arg !== null)
  if (ints.length < args.length) return null
  const row = derivedFunctions[fn]
  if (ints.length < row.least || ints.length > row.most)
    return reading.say(
      "E113",
      `${path}/args`,
      `${fn} takes ${row.least === row.most ? row.least : `${row.least} to ${row.most}`} arguments; here are ` +
        `${ints.length}.`
    )
  if (sameUnit.has(fn) && ints.some((arg) => arg.unit !== ints[0]!.unit))
    return reading.say(
      "E100",
      `${path}/args`,
      `${fn} takes values of one unit; here are ${ints.map((arg) => arg.unit ?? "none").join(", ")}.`
    )
  const domain = row.domain(ints)
  if (domain === null)
    return reading.say(
      "E105",
      path,
      `With these domains of its arguments ${fn} could leave the integers, or is not defined (ratio_bp takes ` +
        "no values below 0). Narrow min and max."
    )
  return { name, fn, args: ints.map((arg) => arg.name), ...domain }
}

const readFunction = (reading: Reading, value: unknown, path: string): DerivedFunction | null => {
  const text = reading.text(value, path, MAX_VALUE_TEXT)
  if (text === null) return null
  if (!text.includes("@"))
    return reading.say("E106", path, `A function is named with its version, like ratio_bp@1; this is ${quote(text)}.`)
  return reading.word(text, path, functions)
}
