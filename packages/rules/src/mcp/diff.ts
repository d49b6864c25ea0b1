/**
 * Compares two lists of tools: which tools changed in which layer, and how much that says.
 *
 * Which layers changed follows from digests alone; severity and signals need the texts.
 *
 * Spec: drift-fairness-mcp.md 4.3; decision 0072.
 */
import { findingSeverities as severities, mcpChanges as toolChanges } from "@flyball/evidence/words"
import type { Slices } from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"
import {
  isMap,
  type Manifest,
  type ManifestDigests,
  type ManifestLayer,
  manifestLayers,
  mapOf,
  pointed,
  type ToolDigests,
  toolDigest
} from "./manifest.ts"
import { shownText, type Signal, type SignalRule, signalsIn } from "./signals.ts"

export { severities, toolChanges }

/** One of {@link toolChanges}. */
export type ToolChangeKind = (typeof toolChanges)[number]

/** One of {@link severities}. */
export type Severity = (typeof severities)[number]

/** A change of a tool, as digests say it. */
export interface ToolChange {
  /** Null: the server's instructions, or the list. */
  readonly tool: string | null
  readonly change: ToolChangeKind
  /** Its name before. */
  readonly renamedFrom?: string
  readonly layers: ReadonlyArray<ManifestLayer>
  /** Digests of the tool; null where there was or is none. */
  readonly before: string | null
  readonly after: string | null
}

/** A text that was not there before. Characters that a reader does not see are written out. */
export interface ChangedText {
  readonly tool: string | null
  readonly path: string
  readonly added: string
  readonly removed: string
}

/** A change with what its texts say. */
export interface WeighedChange extends ToolChange {
  readonly severity: Severity
  readonly signals: ReadonlyArray<Signal>
}

/** The changes of a list. */
export interface ManifestDiff {
  readonly severity: Severity
  /** The gravest first. At most {@link MAX_CHANGES}. */
  readonly changes: ReadonlyArray<WeighedChange>
  /** How many tools changed. */
  readonly tools: number
  readonly layers: ReadonlyArray<ManifestLayer>
  readonly texts: ReadonlyArray<ChangedText>
}

/** Most changes that one finding lists. */
export const MAX_CHANGES = 500
/** Most texts that one finding shows, the length of each, and of all. Unit: UTF-16 code units. */
const MAX_TEXTS = 100
const MAX_SHOWN = 2_000
const MAX_ALL_SHOWN = 250_000
/** Most signals of a change, and of a finding. */
const MAX_SIGNALS = 50
const MAX_ALL_SIGNALS = 2_000
/** Changes that one slice weighs. */
const PER_SLICE = 8
/** Longest place of a text. Unit: UTF-16 code units. */
const MAX_PLACE = 300

/**
 * Finds the tools that changed.
 *
 * - `isComplete`: whether each list is all that its server lists. Tools that only an incomplete list lacks are no
 *   change.
 */
export const changesOf = (
  before: ManifestDigests,
  after: ManifestDigests,
  isComplete: { readonly before: boolean; readonly after: boolean } = { before: true, after: true }
): ReadonlyArray<ToolChange> => {
  const then = new Map(before.tools.map((one) => [one.name, one]))
  const now = new Map(after.tools.map((one) => [one.name, one]))
  const modified = after.tools.flatMap((one): ReadonlyArray<ToolChange> => {
    const earlier = then.get(one.name)
    const layers = earlier === undefined ? [] : manifestLayers.filter((layer) => earlier[layer] !== one[layer])
    return layers.length === 0
      ? []
      : [{ tool: one.name, change: "modified", layers, before: toolDigest(earlier!), after: toolDigest(one) }]
  })
  const removed = isComplete.after ? before.tools.filter(({ name }) => !now.has(name)) : []
  const added = isComplete.before ? after.tools.filter(({ name }) => !then.has(name)) : []
  const gone = new Map<string, Array<ToolDigests>>()
  for (const one of removed) gone.set(meaningOf(one), [...(gone.get(meaningOf(one)) ?? []), one])
  const renamed = new Set<string>()
  const arrived = added.map((one): ToolChange => {
    const earlier = gone.get(meaningOf(one))?.shift()
    if (earlier === undefined)
      return { tool: one.name, change: "added", layers: [], before: null, after: toolDigest(one) }
    renamed.add(earlier.name)
    return {
      tool: one.name,
      change: "renamed",
      renamedFrom: earlier.name,
      layers: manifestLayers.filter((layer) => earlier[layer] !== one[layer]),
      before: toolDigest(earlier),
      after: toolDigest(one)
    }
  })
  const left = removed.flatMap((one): ReadonlyArray<ToolChange> =>
    renamed.has(one.name)
      ? []
      : [{ tool: one.name, change: "removed", layers: [], before: toolDigest(one), after: null }]
  )
  const instructed: ReadonlyArray<ToolChange> =
    before.server === after.server || before.server === ""
      ? []
      : [{ tool: null, change: "modified", layers: ["text"], before: before.server, after: after.server }]
  return [...instructed, ...modified, ...arrived, ...left]
}

/** Two tools of one meaning are the same tool under another name. */
const meaningOf = ({ contract, text }: ToolDigests): string => `${text} ${contract}`

/** The list before: its digests, and the list itself where its text is there. */
export interface Known {
  readonly digests: ManifestDigests
  readonly manifest: Manifest | null
}

/**
 * Weighs the changes of a list. `before` null: the list is seen for the first time, and only tools with two
 * independent signals, with hidden characters, or with the name of another are named. Without the texts before, all of
 * a changed tool's texts are new.
 */
export function* diffOf(
  before: Known | null,
  after: Manifest,
  isComplete: { readonly before: boolean; readonly after: boolean } = { before: true, after: true }
): Slices<ManifestDiff | null> {
  if (after.unread !== null)
    return {
      severity: "high",
      changes: [
        { tool: null, change: "unreadable", layers: [], before: null, after: null, severity: "high", signals: [] }
      ],
      tools: 1,
      layers: [],
      texts: []
    }
  const digests = new Map(after.digests.tools.map((one) => [one.name, one]))
  const earlier = new Map((before?.digests.tools ?? []).map((one) => [one.name, one]))
  const first = (tool: string | null, digest: string): ToolChange => ({
    tool,
    change: "first_seen",
    layers: [],
    before: null,
    after: digest
  })
  const changes =
    before === null
      ? [first(null, after.digests.server), ...after.digests.tools.map((one) => first(one.name, toolDigest(one)))]
      : changesOf(before.digests, after.digests, isComplete)
  const texts: Array<ChangedText> = []
  let [signalsLeft, shownLeft] = [MAX_ALL_SIGNALS, MAX_ALL_SHOWN]
  const weighed: Array<WeighedChange> = []
  for (const [index, one] of changes.entries()) {
    if (index % PER_SLICE === PER_SLICE - 1) yield
    const valueNow = one.tool === null ? { instructions: after.instructions } : (after.values.get(one.tool) ?? {})
    const valueThen =
      one.tool === null
        ? { instructions: before?.manifest?.instructions ?? "" }
        : (before?.manifest?.values.get(one.renamedFrom ?? one.tool) ?? {})
    const added = one.change === "removed" ? [] : addedTexts(valueThen, valueNow)
    const signals = added.flatMap(({ from, path, text, to }) => signalsIn(path, text, from, to))
    const isGrave = isPoisonous(signals)
    const isSecond = one.change !== "removed" && one.tool !== null && valueNow["name"] !== one.tool
    if (one.change === "first_seen" && !isGrave && !isSecond) continue
    const isLooser =
      one.tool !== null &&
      one.change === "modified" &&
      loosened(earlier.get(one.tool)!.hints, digests.get(one.tool)!.hints)
    const severity =
      isGrave || isLooser || (one.change === "modified" && asksForText(valueThen, valueNow))
        ? "high"
        : isSecond || one.layers.includes("text") || one.layers.includes("contract")
          ? "medium"
          : "low"
    const signalled = new Set(signals.map(({ path }) => path))
    for (const { from, path, removed, text, to } of added) {
      if (!signalled.has(path) && (one.change !== "modified" || path === "/name")) continue
      const shown = {
        added: shownText(text.slice(from, Math.min(to, from + MAX_SHOWN)).toWellFormed()),
        removed: shownText(removed.slice(0, MAX_SHOWN).toWellFormed())
      }
      shownLeft -= path.length + shown.added.length + shown.removed.length
      if (texts.length < MAX_TEXTS && shownLeft >= 0) texts.push({ tool: one.tool, path, ...shown })
    }
    const listed = signals.slice(0, Math.min(MAX_SIGNALS, signalsLeft))
    signalsLeft -= listed.length
    weighed.push({ ...one, severity, signals: listed })
  }
  if (weighed.length === 0) return null
  const sorted = weighed.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  return {
    severity: sorted[0]!.severity,
    changes: sorted.slice(0, MAX_CHANGES),
    tools: sorted.length,
    layers: manifestLayers.filter((layer) => sorted.some(({ layers }) => layers.includes(layer))),
    texts
  }
}

/** Two independent signals, or characters that nobody sees. */
const isPoisonous = (signals: ReadonlyArray<Signal>): boolean => {
  const rules = new Set<SignalRule>(signals.map(({ rule }) => rule))
  return rules.has("hidden_characters") || [...rules].filter((rule) => rule !== "padding").length >= 2
}

/** True when a tool no longer says that it only reads, or that it destroys nothing. */
const loosened = (before: string, after: string): boolean =>
  (before.startsWith("R") && !after.startsWith("R")) || (before.startsWith("wd") && after.startsWith("wD"))

/** Names of parameters that ask the model for text of its own. */
const freeText = new RegExp(
  "^(?:side_?notes?|notes?|context|memo|comments?|remarks?|metadata|debug(?:_info)?|feedback|conversation|history|" +
    "thoughts?|reasoning|summary|system_prompt)$",
  "i"
)

/** True when a parameter of such a name became required. */
const asksForText = (before: JsonMap, after: JsonMap): boolean => {
  const then = new Set(requiredOf(before))
  return requiredOf(after).some((name) => !then.has(name) && freeText.test(name))
}

const requiredOf = (tool: JsonMap): ReadonlyArray<string> => {
  const { required } = mapOf(tool["inputSchema"])
  return Array.isArray(required) ? required.filter((one): one is string => typeof one === "string") : []
}

interface AddedText {
  readonly path: string
  readonly text: string
  /** The first new place in the text, in UTF-16 code units. */
  readonly from: number
  readonly to: number
  readonly removed: string
}

/** The texts of a tool that it did not have before, wherever they stand. */
const addedTexts = (before: JsonMap, after: JsonMap): ReadonlyArray<AddedText> => {
  const then = textsOf(before)
  const had = new Set(then.values())
  return [...textsOf(after)].flatMap(([path, text]): ReadonlyArray<AddedText> => {
    if (had.has(text)) return []
    const old = then.get(path) ?? ""
    const shorter = Math.min(old.length, text.length)
    let start = 0
    while (start < shorter && old[start] === text[start]) start++
    let end = 0
    while (end < shorter - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end++
    return [
      {
        path: path.slice(0, MAX_PLACE).toWellFormed(),
        text,
        from: start,
        to: text.length - end,
        removed: old.slice(start, old.length - end)
      }
    ]
  })
}

/** Names that are longer than these, or have a blank, are texts themselves. Unit: UTF-16 code units. */
const LONGEST_NAME = 40

/** All texts of a tool by their place: values, and names that are texts themselves. */
const textsOf = (tool: JsonMap): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const walk = (at: string, value: Json): void => {
    if (typeof value === "string") found.set(at, value)
    else if (Array.isArray(value)) value.forEach((one: Json, index) => walk(`${at}/${index}`, one))
    else if (isMap(value))
      for (const [name, one] of Object.entries(value)) {
        if (name.length > LONGEST_NAME || !/^[\w$.-]*$/.test(name)) found.set(`${at}/${pointed(name)}#name`, name)
        walk(`${at}/${pointed(name)}`, one)
      }
  }
  walk("", tool)
  return found
}
