/**
 * Drafts an envelope from a list of tools: effect classes by what the server says of them, a signal for each argument,
 * and a review of everything. What a server says is a proposal: a person confirms it.
 *
 * Spec: `envelope/1` section 3; decision 0072.
 */
import type { EffectClass, EnvelopeSource, SignalText } from "@flyball/envelope"
import type { JsonMap } from "../records/record.ts"
import { mapOf, pointed } from "./manifest.ts"

/** A draft, and what its reader should confirm or add, a sentence each. */
export interface EnvelopeDraft {
  readonly envelope: EnvelopeSource
  readonly notes: ReadonlyArray<string>
}

/** The shape of an argument by its schema. */
type Shape =
  | { readonly type: "enum"; readonly values: ReadonlyArray<string> }
  | { readonly type: "int"; readonly min: number; readonly max: number }
  | { readonly type: "bool" }
  | { readonly type: "text"; readonly form?: "path@1" | "domain@1" }

/** An argument of a tool; in place of a shape why it can be no signal. */
interface Argument {
  readonly tool: string
  readonly from: string
  readonly isRequired: boolean
  readonly shape: Shape | string
}

/** Greatest value of a signal. Spec: `envelope/1` section 1. */
const MAX_INT = 2 ** 53 - 2
const MAX_SIGNALS = 64
const MAX_VALUES = 256
const MAX_VALUE = 128
const MAX_TEXT = 4_096

/** Classes that hints tell apart, the least grave first. Money has no hint. */
const classes = ["read", "write_reversible", "external_message", "irreversible"] as const

/** Drafts an envelope for tools as `tools/list` answers them. Its lint has no finding. Spec: decision 0072. */
export const draftEnvelope = (tools: ReadonlyArray<JsonMap>): EnvelopeDraft => {
  const named = [...new Map(tools.map((tool) => [String(tool["name"]), tool]))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const effects = Object.fromEntries(named.map(([name, tool]) => [name, effectOf(mapOf(tool["annotations"]))]))
  const ofClass = classes
    .map((effect) => ({ effect, names: Object.keys(effects).filter((name) => effects[name] === effect) }))
    .filter(({ names }) => names.length > 0)
  const { notes, signals } = signalsOf(named)
  return {
    envelope: {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: named.map(([name]) => name), source: "caller" }, ...signals },
      effects,
      rules: ofClass.map(({ effect, names }) => ({
        id: effect,
        outcome: "require_review",
        when: [{ signal: "tool", in: names }]
      })),
      default: { outcome: "deny" }
    },
    notes: [
      "The server says what its tools do. Confirm each class: " +
        `${ofClass.map(({ effect, names }) => `${effect} (${names.join(", ")})`).join("; ")}.`,
      ...(Object.values(signals).some((signal) => "form" in signal && signal.form === "path@1")
        ? ["A relative path is unreadable until its signal has a base, the folder in which the tools work."]
        : []),
      ...notes
    ]
  }
}

/** Reads annotations with the defaults of MCP. */
const effectOf = (annotations: JsonMap): EffectClass =>
  annotations["readOnlyHint"] === true
    ? "read"
    : annotations["destructiveHint"] !== false
      ? "irreversible"
      : annotations["openWorldHint"] !== false
        ? "external_message"
        : "write_reversible"

/** One signal for each argument that is alike in all tools that have it. */
const signalsOf = (tools: ReadonlyArray<readonly [string, JsonMap]>) => {
  const byName = Map.groupBy(tools.flatMap(argumentsOf), ({ from }) => from.replace(/\/\*$/, ""))
  const found = [...byName].toSorted().map(([at, all]) => ({ at, all, shape: alikeOf(all), from: all[0]!.from }))
  // An envelope reads one list: a form says most of what it holds.
  const lists = found.filter(({ from, shape }) => from.endsWith("/*") && typeof shape !== "string")
  const list = lists.find(({ shape }) => "form" in (shape as Shape)) ?? lists[0]
  const signals: { [name: string]: SignalText } = {}
  const notes: Array<string> = []
  for (const one of found) {
    const { all, at, from, shape } = one
    const name = nameOf(at)
    const why =
      typeof shape === "string"
        ? shape
        : from.endsWith("/*") && one !== list
          ? "an envelope reads one list"
          : Object.hasOwn(signals, name) || Object.keys(signals).length === MAX_SIGNALS - 1
            ? `an envelope has ${MAX_SIGNALS} signals with different names`
            : ""
    if (why !== "") notes.push(`The argument ${at} of ${all[0]!.tool} is no signal: ${why}.`)
    else {
      const isAlways = all.length === tools.length && all.every(({ isRequired }) => isRequired)
      signals[name] = { ...(shape as Shape), source: "args", from, ...(isAlways ? {} : { optional: true }) }
    }
  }
  return { signals, notes }
}

const argumentsOf = ([tool, { inputSchema }]: readonly [string, JsonMap]): ReadonlyArray<Argument> => {
  const { properties, required } = mapOf(inputSchema)
  return Object.entries(mapOf(properties)).map(([name, value]) => {
    const schema = mapOf(value)
    const isList = schema["type"] === "array"
    return {
      tool,
      from: `/${pointed(name)}${isList ? "/*" : ""}`,
      isRequired: Array.isArray(required) && required.includes(name),
      shape: shapeOf(tool, name, isList ? mapOf(schema["items"]) : schema)
    }
  })
}

const paths = /(?:^|_)(?:(?:file)?path|(?:file|dir|directory|folder)(?:_?name)?)s?$/
const ends = /^(?:source|destination)$/
const domains = /(?:^|_)(?:url|uri|link|href|host|hostname|domain|e?mail|recipient)s?$|^(?:to|b?cc)$/
const longTexts = /^(?:contents?|text|body|data|html|markdown|code|diff|patch)$/

const shapeOf = (tool: string, name: string, schema: JsonMap): Shape | string => {
  const { enum: values, format, maxLength, maximum, minimum, type } = schema
  if (name === "*") return "no pointer leads to it"
  if (Array.isArray(values))
    return values.length > 0 && values.every((one) => typeof one === "string" && one !== "" && one.length <= MAX_VALUE)
      ? { type: "enum", values: values as ReadonlyArray<string> }
      : `its values are none, or not all texts of 1 to ${MAX_VALUE} characters`
  if (type === "boolean") return { type: "bool" }
  if (type === "integer") {
    const min = Math.max(bounded(minimum, -MAX_INT), bounded(schema["exclusiveMinimum"], -MAX_INT, 1))
    const max = Math.min(bounded(maximum, MAX_INT), bounded(schema["exclusiveMaximum"], MAX_INT, -1))
    return min <= max ? { type: "int", min, max } : "no whole number is within its bounds"
  }
  if (type === "number") return "a number may have a fraction. Declare an int where the tool takes whole numbers"
  if (type !== "string") return "its schema has no type of a signal"
  const words = nameOf(name)
  if (paths.test(words) || (ends.test(words) && paths.test(nameOf(tool)))) return { type: "text", form: "path@1" }
  if (domains.test(words) || ["uri", "email", "hostname"].includes(String(format)))
    return { type: "text", form: "domain@1" }
  return longTexts.test(words) || (typeof maxLength === "number" && maxLength > MAX_TEXT)
    ? `a text signal has up to ${MAX_TEXT} characters`
    : { type: "text" }
}

/** A bound as a whole number; `step`: from one that does not belong to the range itself. */
const bounded = (value: unknown, otherwise: number, step = 0): number =>
  typeof value === "number" && Math.abs(value) < MAX_INT ? Math.round(value) + step : otherwise

/** A shape that admits what each tool takes, or why there is none. */
const alikeOf = (all: ReadonlyArray<Argument>): Shape | string => {
  const shapes: Array<Shape> = []
  for (const { from, shape } of all) {
    if (typeof shape === "string") return shape
    if (from !== all[0]!.from || shape.type !== all[0]!.shape["type" as never])
      return "tools take different types of it"
    shapes.push(shape)
  }
  const [first] = shapes as [Shape]
  if (first.type === "int") {
    const ints = shapes as ReadonlyArray<typeof first>
    return { type: "int", min: Math.min(...ints.map(({ min }) => min)), max: Math.max(...ints.map(({ max }) => max)) }
  }
  if (first.type !== "enum") return first
  const values = [...new Set((shapes as ReadonlyArray<typeof first>).flatMap((one) => one.values))]
  return values.length > MAX_VALUES ? "its values are too many" : { type: "enum", values }
}

const reserved: ReadonlySet<string> = new Set(["tool", "tier", "agent_id", "org_unit", "run_id", "constructor"])

/** The name of a signal for an argument. */
const nameOf = (argument: string): string => {
  const words = argument
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "")
    .slice(0, 60)
  return /^[a-z]/.test(words) && !reserved.has(words) ? words : `arg_${words}`
}
