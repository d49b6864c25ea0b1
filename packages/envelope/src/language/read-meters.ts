/** Reads `meters`. Spec: `SPEC.md` section 6. */
import type { Derived, Meter, MeterFilter, Param, Scalar, Signal } from "./envelope.ts"
import { DEFAULT_MAX_COUNT, MAX_COUNT, MAX_INT, MAX_KEY, MAX_METERS, MAX_VALUE_TEXT, MAX_WINDOW_MS } from "./limits.ts"
import { quote, type Reading } from "./reading.ts"
import { readConstants } from "./read-params.ts"
import { isListed, isValueOf } from "./read-signals.ts"

/** Keys that are no signals. */
export const meterKeys: ReadonlyArray<string> = ["agent_id", "org_unit", "run_id"]

interface Known {
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly params: ReadonlyArray<Param>
}

/** The meters by id; those that could not be read are left out. */
export const readMeters = (reading: Reading, value: unknown, known: Known): ReadonlyArray<Meter> => {
  const members = value === undefined ? {} : (reading.map(value, "/meters", MAX_METERS) ?? {})
  return Object.keys(members)
    .sort()
    .flatMap((id) => {
      const meter =
        reading.name(id, "/meters") === null ? null : readMeter(reading, id, members[id], `/meters/${id}`, known)
      if (meter !== null) return [meter]
      reading.unreadable.add(id)
      return []
    })
}

const readMeter = (reading: Reading, id: string, value: unknown, path: string, known: Known): Meter | null => {
  const members = reading.object(value, path, ["op", "key"], ["of", "where", "window_ms", "max_count"])
  if (members === null) return null
  const before = reading.findings.length
  if (!("window_ms" in members)) reading.say("E106", path, "A meter has a window. Add window_ms, its length in ms.")
  const windowMs =
    "window_ms" in members ? reading.integer(members["window_ms"], `${path}/window_ms`, 1, MAX_WINDOW_MS) : null
  const op = reading.word(members["op"], `${path}/op`, ["sum", "count"])
  const maxCount =
    "max_count" in members
      ? reading.integer(members["max_count"], `${path}/max_count`, 1, MAX_COUNT)
      : DEFAULT_MAX_COUNT
  const key = readKey(reading, members["key"], `${path}/key`, known.signals)
  const where = readWhere(reading, members["where"], `${path}/where`, known)
  const amount =
    op === null
      ? null
      : readAmount(reading, op, op === "sum" ? reading.need(members, path, "of") : members["of"], path, known)
  checkListed(reading, path, [amount?.of ?? null, ...key, ...where.map(({ signal }) => signal)], known)
  if (op === null || windowMs === null || maxCount === null || amount === null || reading.findings.length > before)
    return null
  // Compared by division: the product itself could be rounded down to what is allowed.
  if (amount.max > 0 && maxCount > Math.floor(MAX_INT / amount.max)) {
    return reading.say(
      "E105",
      path,
      `${maxCount} contributions of up to ${amount.max} could leave the integers (2^53). Lower max of the ` +
        "signal, or max_count of the meter."
    )
  }
  return { id, op, of: amount.of, where, windowMs, key, maxCount, max: maxCount * amount.max }
}

/** An action counts once, and an element of a list is no action. */
const checkListed = (
  reading: Reading,
  path: string,
  names: ReadonlyArray<string | null>,
  { derived, signals }: Known
): void => {
  const found = names.find((name) =>
    [name, ...(derived.find((one) => one.name === name)?.args ?? [])].some((of) =>
      signals.some((signal) => signal.name === of && isListed(signal))
    )
  )
  if (typeof found === "string")
    reading.say("E113", path, `A meter counts an action once, and ${found} has a value for each element of a list.`)
}

const readAmount = (
  reading: Reading,
  op: Meter["op"],
  of: unknown,
  path: string,
  known: Known
): { readonly of: string | null; readonly max: number } | null => {
  if (op === "count")
    return of === undefined
      ? { of: null, max: 1 }
      : reading.say("E113", `${path}/of`, "A count counts actions. Remove of, or make it a sum.")
  const name = reading.text(of, `${path}/of`, MAX_VALUE_TEXT)
  if (name === null) return null
  const signal =
    known.signals.find((candidate) => candidate.name === name && candidate.type === "int") ??
    known.derived.find((candidate) => candidate.name === name)
  if (signal === undefined)
    return reading.unknown(name, `${path}/of`, `There is no int signal ${quote(name)}. Name one of this envelope.`)
  return signal.min < 0
    ? reading.say("E105", `${path}/of`, `A meter adds up what is never below 0, and ${name} can be ${signal.min}.`)
    : { of: name, max: signal.max }
}

const readKey = (
  reading: Reading,
  value: unknown,
  path: string,
  signals: ReadonlyArray<Signal>
): ReadonlyArray<string> => {
  const key = reading.texts(value, path, MAX_KEY, MAX_VALUE_TEXT) ?? []
  key.forEach((name, i) => {
    if (meterKeys.includes(name) || signals.some((signal) => signal.name === name && signal.type === "enum")) return
    reading.unknown(
      name,
      `${path}/${i}`,
      `There is no key ${quote(name)}. It can be ${meterKeys.join(", ")}, or an enum signal.`
    )
  })
  return key
}

const readWhere = (reading: Reading, value: unknown, path: string, known: Known): ReadonlyArray<MeterFilter> => {
  const members = value === undefined ? {} : (reading.map(value, path, MAX_KEY) ?? {})
  return Object.keys(members)
    .sort()
    .flatMap((name) => {
      const signal = known.signals.find((candidate) => candidate.name === name && candidate.type !== "int")
      if (signal === undefined) {
        reading.unknown(name, path, `There is no enum or bool signal ${quote(name)}. Name one of this envelope.`)
        return []
      }
      const values: Array<Scalar> = []
      readConstants(reading, members[name], `${path}/${name}`, known.params)?.forEach((constant, i) => {
        if (isValueOf(signal, constant.value)) values.push(constant.value)
        else reading.say("E100", `${path}/${name}/${i}`, `${quote(String(constant.value))} is no value of ${name}.`)
      })
      return values.length === 0 ? [] : [{ signal: name, values }]
    })
}
