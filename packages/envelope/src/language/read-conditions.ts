/** Reads conditions. Spec: `SPEC.md` section 5. */
import type { Condition, Constant, Derived, Meter, Param, Signal, Test } from "./envelope.ts"
import { formNames, forms, type FormTest } from "./forms/forms.ts"
import { MAX_CONDITION_DEPTH, MAX_CONDITIONS, MAX_INT, MAX_TEXT, MAX_VALUE_TEXT, MIN_INT } from "./limits.ts"
import { allThere, type Members, quote, type Reading } from "./reading.ts"
import { readConstant, readConstants } from "./read-params.ts"
import { isValueOf } from "./read-signals.ts"

/** Names that conditions may use. */
export interface Vocabulary {
  readonly signals: ReadonlyArray<Signal>
  readonly derived: ReadonlyArray<Derived>
  readonly meters: ReadonlyArray<Meter>
  readonly params: ReadonlyArray<Param>
}

/** The subject of a test. */
type Subject = Pick<Signal, "name" | "type" | "values" | "min" | "max" | "ordered" | "form" | "base"> & {
  readonly mayBeAbsent: boolean
}

const operators = [
  "in",
  "nin",
  "eq",
  "lt",
  "lte",
  "gt",
  "gte",
  "between",
  "prefix",
  "suffix",
  "under",
  "length",
  "is",
  "present",
  "readable"
] as const
type Operator = (typeof operators)[number]
const meterOperators = ["after_eq", "after_lt", "after_lte", "after_gt", "after_gte", "after_between"] as const
const comparisons: ReadonlySet<string> = new Set(["lt", "lte", "gt", "gte", "between"])
/** An integer that is no signal. */
const integer = { type: "int", values: null, min: 0, ordered: false, form: null, base: null } as const

/** A conjunction; null after a finding. */
export const readConditions = (
  reading: Reading,
  value: unknown,
  path: string,
  words: Vocabulary,
  depth = 0
): ReadonlyArray<Condition> | null => {
  const conditions =
    reading
      .list(value, path, 0, MAX_CONDITIONS)
      ?.map((item, i) => readCondition(reading, item, `${path}/${i}`, words, depth)) ?? null
  return conditions !== null && allThere(conditions) ? conditions : null
}

const readCondition = (
  reading: Reading,
  value: unknown,
  path: string,
  words: Vocabulary,
  depth: number
): Condition | null => {
  if (depth > MAX_CONDITION_DEPTH)
    return reading.say("E113", path, `Conditions nest at most ${MAX_CONDITION_DEPTH} deep. Split the rule.`)
  const members = reading.map(value, path, MAX_CONDITIONS)
  if (members === null) return null
  for (const kind of ["any", "all"] as const) {
    if (!(kind in members)) continue
    const list = readConditions(
      reading,
      reading.object(members, path, [kind])?.[kind],
      `${path}/${kind}`,
      words,
      depth + 1
    )
    return list === null
      ? null
      : list.length > 0
        ? { kind, of: list }
        : reading.say("E113", `${path}/${kind}`, "At least one condition is expected here.")
  }
  if ("not" in members) {
    const of = readCondition(reading, reading.object(members, path, ["not"])?.["not"], `${path}/not`, words, depth + 1)
    return of === null ? null : { kind: "not", of }
  }
  return "meter" in members
    ? readMeterTest(reading, members, path, words)
    : readSignalTest(reading, members, path, words)
}

const readSignalTest = (reading: Reading, members: Members, path: string, words: Vocabulary): Condition | null => {
  if (reading.object(members, path, ["signal"], operators) === null) return null
  const name = reading.text(members["signal"], `${path}/signal`, MAX_VALUE_TEXT)
  const operator = onlyOperator(reading, members, path, operators)
  if (name === null || operator === null) return null
  const subject = subjectOf(words, name)
  if (subject === null)
    return reading.unknown(
      name,
      `${path}/signal`,
      `There is no signal ${quote(name)}. Declare it in signals or derived.`
    )
  const test = readTest(reading, subject, operator, members[operator], `${path}/${operator}`, words.params)
  return test === null ? null : { kind: "test", name, test }
}

const readMeterTest = (reading: Reading, members: Members, path: string, words: Vocabulary): Condition | null => {
  if (reading.object(members, path, ["meter"], meterOperators) === null) return null
  const id = reading.text(members["meter"], `${path}/meter`, MAX_VALUE_TEXT)
  const operator = onlyOperator(reading, members, path, meterOperators)
  if (id === null || operator === null) return null
  const meter = words.meters.find((candidate) => candidate.id === id)
  if (meter === undefined)
    return reading.unknown(id, `${path}/meter`, `There is no meter ${quote(id)}. Declare it in meters.`)
  const name = `meter:${id}`
  const subject: Subject = { ...integer, name, max: meter.max, mayBeAbsent: false }
  const test = readTest(
    reading,
    subject,
    operator.slice("after_".length) as Operator,
    members[operator],
    `${path}/${operator}`,
    words.params
  )
  return test === null ? null : { kind: "test", name, test }
}

const onlyOperator = <const O extends string>(
  reading: Reading,
  members: Members,
  path: string,
  known: ReadonlyArray<O>
): O | null => {
  const here = known.filter((operator) => operator in members)
  return here.length === 1
    ? here[0]!
    : reading.say(
        "E113",
        path,
        `A condition asks one thing: one of ${known.join(", ")}. Here are ${here.length}; write one condition for each.`
      )
}

const subjectOf = (words: Vocabulary, name: string): Subject | null => {
  const signal = words.signals.find((candidate) => candidate.name === name)
  if (signal !== undefined) return { ...signal, mayBeAbsent: signal.optional }
  const derived = words.derived.find((candidate) => candidate.name === name)
  if (derived === undefined) return null
  const mayBeAbsent = derived.args.some((arg) => words.signals.some((signal) => signal.name === arg && signal.optional))
  return { ...integer, name, min: derived.min, max: derived.max, mayBeAbsent }
}

const readTest = (
  reading: Reading,
  subject: Subject,
  op: Operator,
  value: unknown,
  path: string,
  params: ReadonlyArray<Param>
): Test | null => {
  if (op === "present") {
    if (!subject.mayBeAbsent)
      return reading.say("E113", path, `${subject.name} is never absent. Make it optional, or remove the condition.`)
    const flag = reading.flag(value, path)
    return flag === null ? null : { op, value: flag }
  }
  if (!fits(op, subject))
    return reading.say(
      "E113",
      path,
      `${op} does not apply to ${subject.name}, which is of type ` +
        `${subject.type}${comparisons.has(op) && subject.type === "enum" ? " and not ordered" : ""}` +
        `${subject.form === null ? "" : ` and form ${subject.form}`}.${insteadOf(op, subject)}`
    )
  switch (op) {
    case "is":
    case "readable": {
      const flag = reading.flag(value, path)
      return flag === null ? null : { op, value: flag }
    }
    case "prefix": {
      const prefix = readConstant(reading, value, path, params)
      if (prefix === null) return null
      if (typeof prefix.value !== "string") return reading.say("E113", path, "A prefix is a text.")
      if (subject.type === "text") return { op, prefix }
      const start = prefix.value
      return subject.values?.some((member) => member.startsWith(start))
        ? { op, prefix }
        : reading.say("E100", path, `No value of ${subject.name} begins with ${quote(start)}.`)
    }
    case "suffix":
    case "under": {
      const constant = readConstant(reading, value, path, params)
      if (constant === null) return null
      const checked = readText(reading, subject, op, constant, path)
      return checked === null ? null : { op, value: checked }
    }
    case "in":
    case "nin": {
      const values = readConstants(reading, value, path, params)
      const checked = values?.map((constant, i) => inDomain(reading, subject, constant, `${path}/${i}`)) ?? null
      return checked !== null && allThere(checked) ? { op, values: checked } : null
    }
    case "length":
    case "between": {
      const of = op === "length" ? { ...subject, ...integer, max: MAX_TEXT } : subject
      const [from = null, to = null] =
        reading.list(value, path, 2, 2)?.map((end, i) => readIn(reading, of, end, `${path}/${i}`, params)) ?? []
      if (from === null || to === null) return null
      const rank = (constant: Constant): number =>
        of.values === null ? (constant.value as number) : of.values.indexOf(constant.value as string)
      return rank(from) > rank(to)
        ? reading.say("E105", path, "The first end is above the second. Swap them.")
        : { op, from, to }
    }
    default: {
      const constant = readIn(reading, subject, value, path, params)
      return constant === null ? null : { op, value: constant }
    }
  }
}

const readIn = (
  reading: Reading,
  subject: Subject,
  value: unknown,
  path: string,
  params: ReadonlyArray<Param>
): Constant | null => {
  const constant = readConstant(reading, value, path, params)
  return constant === null ? null : inDomain(reading, subject, constant, path)
}

/** True for an operator that applies to this type. */
const fits = (op: Operator, { form, ordered, type }: Subject): boolean => {
  switch (op) {
    case "is":
      return type === "bool"
    case "prefix":
      return type === "enum" || (type === "text" && form === null)
    case "length":
      return type === "text" && form === null
    case "suffix":
      return type === "text" && (form === null || form === "path@1")
    case "under":
      return form !== null && forms[form].under !== null
    case "readable":
      return form !== null
    default:
      return !comparisons.has(op) || type === "int" || ordered
  }
}

/** The beginning or end of a path or host is the classic mistake: it admits /srv/reports-evil and evilexample.com. */
const insteadOf = (op: Operator, { form, type }: Subject): string =>
  type !== "text"
    ? ""
    : form === null
      ? op === "under" || op === "readable"
        ? ` Only a text with a form has it: ${formNames.join(", ")}.`
        : ""
      : forms[form].under !== null && (op === "prefix" || op === "suffix" || op === "length")
        ? " Use under, which compares whole names."
        : ""

/** A constant of a text as its form writes it, so that a rule says what it compares with. */
const readText = (
  reading: Reading,
  { base, form, name }: Subject,
  test: FormTest,
  constant: Constant,
  path: string
): Constant | null => {
  const { value } = constant
  if (typeof value !== "string") return reading.say("E113", path, `A text is expected here, as ${name} is one.`)
  if (form === null) return constant
  const { noun, read, sample } = forms[form]
  const text = sample(value, test)
  const normal = text === null ? null : read(text, null)
  if (normal !== null && sample(normal, "eq") === text) return constant
  const better = normal ?? (test === "suffix" ? null : read(value, base))
  return reading.say(
    "E105",
    path,
    `${quote(value)} is no ${noun} in normal form, so ${test} would hold for nothing.` +
      (better === null || test === "suffix" || sample(better, test) === null ? "" : ` Write ${quote(better)}.`)
  )
}

const inDomain = (reading: Reading, subject: Subject, constant: Constant, path: string): Constant | null => {
  if (subject.type === "text") return readText(reading, subject, "eq", constant, path)
  if (isValueOf(subject, constant.value)) return constant
  if (
    subject.type === "int" &&
    typeof constant.value === "number" &&
    constant.value >= MIN_INT &&
    constant.value <= MAX_INT
  ) {
    return reading.say(
      "E105",
      path,
      `${constant.value} is outside the domain of ${subject.name}, ${subject.min} to ${subject.max}.`
    )
  }
  return subject.type === "enum" && typeof constant.value === "string"
    ? reading.say(
        "E100",
        path,
        `${quote(constant.value)} is no value of ${subject.name}. Add it to values, or correct it.`
      )
    : reading.say("E113", path, `A value of type ${subject.type} is expected here, as ${subject.name} has.`)
}
