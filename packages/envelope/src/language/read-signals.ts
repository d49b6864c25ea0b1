/** Reads `signals`. Spec: `SPEC.md` section 3. */
import { isNewForeignName } from "@flyball/evidence"
import { EACH, listOf, stepsOf } from "./arguments.ts"
import type { Scalar, Signal, SignalSource, SignalType } from "./envelope.ts"
import {
  MAX_CONSTANT_TEXT,
  MAX_FOREIGN_NAME,
  MAX_INT,
  MAX_NAME,
  MAX_POINTER,
  MAX_SIGNALS,
  MAX_VALUE_TEXT,
  MAX_VALUES,
  MIN_INT
} from "./limits.ts"
import { formNames, type FormName, forms } from "./forms/forms.ts"
import { type Members, quote, type Reading } from "./reading.ts"
import { isText, normalOf } from "./text-cells.ts"

const types: ReadonlyArray<SignalType> = ["enum", "int", "bool", "text"]
const sources: ReadonlyArray<SignalSource> = ["caller", "args", "server", "latch"]
/** Money in parts of a currency, and plain units. */
const UNIT = /^(?:[A-Z]{3}\/(?:1|10|100|1000|10000)|bp|ms|s|count|tokens|bytes)$/

/** The declared signals by name; those that could not be read are left out. */
export const readSignals = (reading: Reading, value: unknown): ReadonlyArray<Signal> => {
  const members = reading.map(value, "/signals", MAX_SIGNALS) ?? {}
  const signals = Object.keys(members)
    .sort()
    .flatMap((name) => {
      const path = `/signals/${name}`
      const signal = reading.name(name, "/signals") === null ? null : readSignal(reading, name, members[name], path)
      if (signal !== null) return [signal]
      reading.unreadable.add(name)
      return []
    })
  for (const signal of signals) if (signal.setBy !== null) checkLatch(reading, signal, signals)
  const listed = signals.filter(isListed)
  for (const { from, name } of listed)
    if (listPart(from) !== listPart(listed[0]!.from))
      reading.say(
        "E113",
        `/signals/${name}/from`,
        `One list of the arguments is decided by its elements, here ${quote(listPart(listed[0]!.from))}. Read no other.`
      )
  return signals
}

const readSignal = (reading: Reading, name: string, value: unknown, path: string): Signal | null => {
  const members = reading.object(
    value,
    path,
    ["type", "source"],
    ["values", "ordered", "min", "max", "unit", "optional", "on_missing", "set_by", "from", "form", "base"]
  )
  if (members === null) return null
  const type = reading.word(members["type"], `${path}/type`, types)
  const source = reading.word(members["source"], `${path}/source`, sources)
  if (type === null || source === null) return null
  const before = reading.findings.length
  for (const [member, when] of [
    ["values", type === "enum"],
    ["ordered", type === "enum"],
    ["min", type === "int"],
    ["max", type === "int"],
    ["unit", type === "int"],
    ["set_by", source === "latch"],
    ["from", source === "args"],
    ["form", type === "text"],
    ["base", type === "text"]
  ] as const) {
    if (member in members && !when)
      reading.say("E113", `${path}/${member}`, `A signal of type ${type} from ${source} has no ${member}. Remove it.`)
  }
  const domain =
    foreignNames.has(name) && type === "enum"
      ? readNames(reading, members, path)
      : readDomain(reading, type, members, path)
  const optional = "optional" in members ? (reading.flag(members["optional"], `${path}/optional`) ?? false) : false
  const unit = "unit" in members && type === "int" ? readUnit(reading, members["unit"], `${path}/unit`) : null
  const ordered = "ordered" in members ? (reading.flag(members["ordered"], `${path}/ordered`) ?? false) : false
  const form = "form" in members && type === "text" ? readForm(reading, members["form"], `${path}/form`) : null
  const base = "base" in members && type === "text" ? readBase(reading, members["base"], `${path}/base`, form) : null
  const setBy =
    source === "latch" ? reading.text(reading.need(members, path, "set_by"), `${path}/set_by`, MAX_VALUE_TEXT) : null
  const from = source === "args" ? readPointer(reading, reading.need(members, path, "from"), `${path}/from`) : null
  if (source === "latch" && (type !== "bool" || optional || "on_missing" in members))
    reading.say(
      "E113",
      path,
      "A latch is a bool that is always there. Remove `optional` and `on_missing`, and make its type bool."
    )
  if (
    name === "tier" &&
    (type !== "int" || source !== "server" || domain?.min !== 0 || domain.max !== 4 || optional || "unit" in members)
  ) {
    reading.say(
      "E103",
      path,
      "The signal tier is the agent's autonomy tier: an int from 0 to 4 of source server, without a unit and " +
        "never absent. Declare it so, or choose another name."
    )
  }
  if (name === "tool" && (type !== "enum" || source === "args"))
    reading.say(
      "E103",
      path,
      "The signal tool is the name of the tool that acts: an enum, and no argument. Declare it so, or choose another " +
        "name."
    )
  if (domain === null || reading.findings.length > before) return null
  const signal: Signal = {
    name,
    type,
    source,
    ...domain,
    ordered,
    unit,
    optional,
    onMissing: null,
    setBy,
    from,
    form,
    base
  }
  if (!("on_missing" in members)) return signal
  if (optional)
    return reading.say(
      "E113",
      `${path}/on_missing`,
      "A signal is either optional or counts as a value when it is missing. Remove one of the two."
    )
  const onMissing = members["on_missing"]
  return isValueOf(signal, onMissing)
    ? { ...signal, onMissing }
    : reading.say(
        "E105",
        `${path}/on_missing`,
        `The value of on_missing is no value of the signal ${name}. Choose one of its domain.`
      )
}

const readDomain = (
  reading: Reading,
  type: SignalType,
  members: Members,
  path: string
): Pick<Signal, "values" | "min" | "max"> | null => {
  if (type === "bool") return { values: null, min: 0, max: 1 }
  if (type === "text") return { values: null, min: 0, max: 0 }
  if (type === "enum") {
    const values = reading.texts(reading.need(members, path, "values"), `${path}/values`, MAX_VALUES, MAX_VALUE_TEXT)
    return values === null ? null : { values, min: 0, max: values.length - 1 }
  }
  const min = reading.integer(reading.need(members, path, "min"), `${path}/min`, MIN_INT, MAX_INT)
  const max = reading.integer(reading.need(members, path, "max"), `${path}/max`, MIN_INT, MAX_INT)
  if (min === null || max === null) return null
  return min > max
    ? reading.say("E105", path, `The least value ${min} is above the greatest, ${max}. Swap them.`)
    : { values: null, min, max }
}

/** Signals whose values are names that others gave. */
const foreignNames: ReadonlySet<string> = new Set(["action", "model", "tool", "tool_server"])

const readNames = (reading: Reading, members: Members, path: string): Pick<Signal, "values" | "min" | "max"> | null => {
  const before = reading.findings.length
  const at = `${path}/values`
  const values = reading.texts(reading.need(members, path, "values"), at, MAX_VALUES, MAX_CONSTANT_TEXT)
  values?.forEach((value, i) => {
    if (!isNewForeignName(value, MAX_FOREIGN_NAME))
      reading.say(
        "E113",
        `${at}/${i}`,
        `A name is 1 to ${MAX_FOREIGN_NAME} visible characters with single blanks between them, in the form NFC; ` +
          `this is ${quote(value)}, which no action has.`
      )
  })
  return values === null || reading.findings.length > before ? null : { values, min: 0, max: values.length - 1 }
}

/** True for a signal with a value for each element of a list. */
export const isListed = ({ from }: Pick<Signal, "from">): boolean => from !== null && listOf(stepsOf(from)!) !== null

/** The pointer to the list over which a pointer goes. */
export const listPart = (from: string | null): string => from!.slice(0, `${from}/`.indexOf(`/${EACH}/`))

const readPointer = (reading: Reading, value: unknown, path: string): string | null => {
  const pointer = reading.text(value, path, MAX_POINTER)
  const steps = pointer === null ? [] : stepsOf(pointer)
  return steps !== null && steps.filter((step) => step === EACH).length <= 1
    ? pointer
    : reading.say(
        "E113",
        path,
        "A JSON pointer into the arguments is expected here, like /order/amount or, with one *, /recipients/*; this " +
          `is ${quote(pointer!)}.`
      )
}

const readForm = (reading: Reading, value: unknown, path: string): FormName | null => {
  const form = reading.text(value, path, MAX_NAME)
  const found = formNames.find((name) => name === form)
  if (found !== undefined || form === null) return found ?? null
  const version = formNames.find((name) => name.startsWith(`${form}@`))
  return version === undefined
    ? reading.say("E100", path, `There is no form ${quote(form)}. It can be ${formNames.join(", ")}.`)
    : reading.say("E106", path, `A form has a version. Write ${version}.`)
}

const readBase = (reading: Reading, value: unknown, path: string, form: FormName | null): string | null => {
  const base = reading.text(value, path, MAX_CONSTANT_TEXT)
  if (base === null) return null
  if (form !== "path@1") return reading.say("E113", path, "A base is of a text with the form path@1. Remove it.")
  const normal = forms[form].read(base, null)
  return normal === base
    ? base
    : reading.say("E105", path, `A base is an absolute path in normal form${normal === null ? "" : `: ${normal}`}.`)
}

const readUnit = (reading: Reading, value: unknown, path: string): string | null => {
  const unit = reading.text(value, path, 16)
  return unit === null || UNIT.test(unit)
    ? unit
    : reading.say(
        "E100",
        path,
        `There is no unit ${quote(unit)}. It can be bp, ms, s, count, tokens, bytes, or a currency and its ` +
          "parts like EUR/100."
      )
}

const checkLatch = (reading: Reading, latch: Signal, signals: ReadonlyArray<Signal>): void => {
  const by = signals.find((signal) => signal.name === latch.setBy)
  if (by === undefined)
    reading.unknown(
      latch.setBy ?? "",
      `/signals/${latch.name}/set_by`,
      `There is no signal ${quote(latch.setBy ?? "")}. Name a bool signal of this envelope.`
    )
  else if (by.type !== "bool" || by.source === "latch" || isListed(by))
    reading.say(
      "E113",
      `/signals/${latch.name}/set_by`,
      `A latch is set by a bool signal of the caller, the server or the arguments, where it is of no list, and ` +
        `${by.name} is none.`
    )
}

/** True for a value of JSON that a signal can have; of a text with a form, one that it reads. */
export const isValueOf = (
  signal: Pick<Signal, "type" | "values" | "min" | "max" | "form" | "base">,
  value: unknown
): value is Scalar =>
  signal.type === "text"
    ? isText(signal, value) && normalOf(signal, value) !== null
    : signal.type === "enum"
      ? typeof value === "string" && (signal.values?.includes(value) ?? false)
      : signal.type === "bool"
        ? typeof value === "boolean"
        : Number.isSafeInteger(value) && (value as number) >= signal.min && (value as number) <= signal.max
