/** Reads an envelope from untrusted JSON. Spec: `SPEC.md` sections 2 to 7. */
import { canonicalBytes, NotCanonical } from "@flyball/evidence"
import { type EffectClass, effectClasses, type Envelope, type Scope, SEMANTICS, type Signal } from "./envelope.ts"
import type { Finding } from "./findings.ts"
import {
  MAX_ENVELOPE_BYTES,
  MAX_ENVELOPE_DEPTH,
  MAX_INT,
  MAX_LISTED,
  MAX_SENTENCE,
  MAX_VALUE_TEXT,
  MAX_VALUES
} from "./limits.ts"
import { quote, Reading } from "./reading.ts"
import { readDerived } from "./read-derived.ts"
import { readMeters } from "./read-meters.ts"
import { readParams } from "./read-params.ts"
import { readRules } from "./read-rules.ts"
import { readSignals } from "./read-signals.ts"

/** An envelope, or none; and everything that is wrong with it. */
export interface ReadEnvelope {
  /** Null unless every finding is E112, which leaves a meaning: a tool without a class counts as irreversible. */
  readonly envelope: Envelope | null
  readonly findings: ReadonlyArray<Finding>
}

const required = ["semantics", "signals", "rules", "default"]
const optional = [
  "envelope_id",
  "version",
  "name",
  "scope",
  "derived",
  "params",
  "meters",
  "effects",
  "coverage",
  "accept_non_monotone",
  "on_unavailable"
]

/** Reads a parsed JSON value. Never throws; at most 200 findings. Spec: `envelope/1` sections 2 to 7. */
export const readEnvelope = (value: unknown): ReadEnvelope => {
  const reading = new Reading()
  if (!isBounded(reading, value)) return { envelope: null, findings: reading.findings }
  if (isOfAnotherLanguage(value)) {
    reading.say(
      "E109",
      "/semantics",
      `The language ${SEMANTICS} is expected here. Another one cannot be read by this version.`
    )
    return { envelope: null, findings: reading.findings }
  }
  const members = reading.object(value, "", required, optional)
  if (members === null || !("semantics" in members)) return { envelope: null, findings: reading.findings }
  const signals = readSignals(reading, members["signals"])
  const params = readParams(reading, members["params"])
  const derived = readDerived(reading, members["derived"], signals)
  const meters = readMeters(reading, members["meters"], { signals, derived, params })
  const envelope: Envelope = {
    semantics: SEMANTICS,
    envelopeId: "envelope_id" in members ? reading.text(members["envelope_id"], "/envelope_id", MAX_VALUE_TEXT) : null,
    version: "version" in members ? reading.integer(members["version"], "/version", 1, MAX_INT) : null,
    name: "name" in members ? reading.text(members["name"], "/name", MAX_SENTENCE) : null,
    scope: "scope" in members ? readScope(reading, members["scope"]) : null,
    signals,
    derived,
    params,
    meters,
    rules: readRules(reading, members["rules"], { signals, derived, meters, params }),
    otherwise:
      reading.word(reading.object(members["default"], "/default", ["outcome"])?.["outcome"], "/default/outcome", [
        "deny",
        "require_review"
      ]) ?? "deny",
    coverage:
      "coverage" in members
        ? (reading.word(members["coverage"], "/coverage", ["total", "allow_uncovered"]) ?? "total")
        : "allow_uncovered",
    acceptNonMonotone: "accept_non_monotone" in members ? readReason(reading, members["accept_non_monotone"]) : null,
    onUnavailable:
      "on_unavailable" in members
        ? (reading.word(members["on_unavailable"], "/on_unavailable", ["deny", "allow_cached"]) ?? "deny")
        : "deny",
    effects: readEffects(
      reading,
      members["effects"],
      signals.find((signal) => signal.name === "tool")
    )
  }
  return {
    envelope: reading.findings.every((finding) => finding.code === "E112") ? envelope : null,
    findings: reading.findings
  }
}

/** True for an object of another language, whose members this language does not check. */
const isOfAnotherLanguage = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.hasOwn(value, "semantics") &&
  (value as { readonly semantics: unknown }).semantics !== SEMANTICS

const isBounded = (reading: Reading, value: unknown): boolean => {
  try {
    const bytes = canonicalBytes(value, MAX_ENVELOPE_DEPTH).length
    if (bytes <= MAX_ENVELOPE_BYTES) return true
    reading.say(
      "E113",
      "",
      `An envelope has at most ${MAX_ENVELOPE_BYTES} bytes; this one has ${bytes}. Split it into layers.`
    )
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error
    reading.say("E113", "", `An envelope is JSON with at most ${MAX_ENVELOPE_DEPTH} levels. ${error.message}`)
  }
  return false
}

const readScope = (reading: Reading, value: unknown): Scope | null => {
  const members = reading.object(value, "/scope", [], ["org_unit", "agents"])
  if (members === null) return null
  return {
    orgUnit: "org_unit" in members ? reading.text(members["org_unit"], "/scope/org_unit", MAX_SENTENCE) : null,
    agents:
      "agents" in members ? (reading.texts(members["agents"], "/scope/agents", MAX_LISTED, MAX_VALUE_TEXT) ?? []) : []
  }
}

const readReason = (reading: Reading, value: unknown): string | null =>
  reading.text(
    reading.object(value, "/accept_non_monotone", ["reason"])?.["reason"],
    "/accept_non_monotone/reason",
    MAX_SENTENCE
  )

const readEffects = (reading: Reading, value: unknown, tool: Signal | undefined): ReadonlyMap<string, EffectClass> => {
  const members = value === undefined ? {} : (reading.map(value, "/effects", MAX_VALUES) ?? {})
  const tools = tool?.values ?? ["*"]
  const effects = new Map<string, EffectClass>()
  if (reading.unreadable.has("tool")) return effects
  for (const name of Object.keys(members).sort()) {
    const path = `/effects/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
    const effect = reading.word(members[name], path, effectClasses)
    if (!tools.includes(name))
      reading.say(
        "E100",
        path,
        tool === undefined
          ? "Without a signal tool there is one entry, named *."
          : `${quote(name)} is no value of tool. Add it there, or correct it.`
      )
    else if (effect !== null) effects.set(name, effect)
  }
  for (const name of tools) {
    if (!Object.hasOwn(members, name))
      reading.say(
        "E112",
        "/effects",
        tool === undefined
          ? 'There is no signal tool. Say in effects what every action is: {"*": class}.'
          : `The tool ${quote(name)} has no effect class. Add it: ${effectClasses.join(", ")}.`,
        tool === undefined ? {} : { tool: name }
      )
  }
  return effects
}
