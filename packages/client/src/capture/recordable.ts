/**
 * Makes of any value, name and number what the service takes of a record, so that no call that ran is refused.
 *
 * Every function here is total: it throws for nothing, and the contract accepts each of its answers.
 */
import { isNewForeignName, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { hmacSha256 } from "../action-digest.ts"
import { keepAll, type Redact, redactSafely } from "../redact.ts"
import type { Decision, Json, Settlement, Usage } from "../wire.ts"
import { formOf, type ValueForm, type WithheldReason } from "./form-of.ts"

/**
 * Largest value that is recorded in full. The service refuses a decision whose part is above 1 MiB. Unit: bytes of
 * UTF-8.
 */
export const MAX_WITNESSED_BYTES = 512 * 1_024

/** Takes secrets out of values, and names by a digest what cannot be recorded. */
export interface Recording {
  readonly redact: Redact
  /** Key of the digests of what no redaction has seen, so that nobody tries out what it may be. */
  readonly digestKey: Uint8Array
}

/**
 * Recorded in place of a value. `bytes`: of its form, or of its beginning where there is no `digest`. `digest`: the
 * SHA-256 of its form; with `keyed`, HMAC-SHA-256 under the digest key of the client.
 */
export interface WithheldValue {
  readonly withheld: WithheldReason
  readonly bytes: number
  readonly digest?: string
  readonly keyed?: true
}

/**
 * A value as it is recorded: itself, redacted, where it is JSON that the service takes, and otherwise a
 * {@link WithheldValue}. Absent for `undefined`. Never throws. Spec: decision 0009.
 */
export const recordedValue = (value: unknown, { digestKey, redact }: Recording): Json | undefined => {
  if (value === undefined) return undefined
  const form = formOf(value)
  if (redact === keepAll) return shownOrWithheld(form)
  // A redaction reads JSON. What is none it would not see into, and its digest would give a short secret away.
  if (form.reason !== null) return withheld(form, digestKey)
  return shownOrWithheld(formOf(redactSafely(redact, JSON.parse(form.text) as Json)))
}

/** The value itself, null too, where it may be recorded. */
const shownOrWithheld = (form: ValueForm): Json => {
  const value = jsonOf(form)
  return value === undefined ? withheld(form, null) : value
}

/**
 * True for a value that is recorded itself, redacted or not, and not by a digest. Such arguments the verifier can read.
 */
export const isRecordedWhole = (value: unknown, redact: Redact): boolean => {
  const form = formOf(value)
  const shown = (): ValueForm =>
    redact === keepAll ? form : formOf(redactSafely(redact, JSON.parse(form.text) as Json))
  return form.reason === null && jsonOf(shown()) !== undefined
}

/** The value of a form; undefined where it may not be recorded. */
const jsonOf = ({ reason, text }: ValueForm): Json | undefined =>
  reason === null && (text.length <= MAX_WITNESSED_BYTES / 3 || utf8(text).length <= MAX_WITNESSED_BYTES)
    ? (JSON.parse(text) as Json)
    : undefined

const withheld = ({ isWhole, reason, text }: ValueForm, key: Uint8Array | null): Json => {
  const bytes = utf8(text)
  const mark = { withheld: reason ?? "too_large", bytes: bytes.length }
  if (!isWhole) return mark
  const digest = key === null ? portableCrypto.sha256(bytes) : hmacSha256(key, bytes)
  return { ...mark, digest: `sha256:${toHex(digest)}`, ...(key === null ? {} : { keyed: true }) }
}

/** Most code points of a name. Spec: api.md, Conventions. */
const MAX_NAME = 200

/** Begins what is recorded in place of a text that is no name. */
const mapped = /^@(?:name|digest):/

/**
 * A tool's, server's or model's name as it is recorded. A text that is no name becomes `@name:` and the text, every
 * character but visible ASCII written as `\\u{hex}`, and so a backslash; or, where that is over 200 characters,
 * `@digest:`, the SHA-256 of the text as JSON, and its beginning. No two texts share one.
 */
export const recordedName = (name: unknown): string => {
  const text = typeof name === "string" ? name : formOf(name).text
  if (isNewForeignName(text, MAX_NAME) && !mapped.test(text)) return text
  const written = Array.from(text.slice(0, 2 * MAX_NAME), escaped).join("")
  if (text.length <= 2 * MAX_NAME && written.length <= MAX_NAME - "@name:".length) return `@name:${written}`
  return `@digest:${digestOf(JSON.stringify(text))}:${written}`.slice(0, MAX_NAME)
}

const escaped = (character: string): string =>
  /^[!-[\]-~]$/.test(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`

/** An identifier of the caller as it is recorded; the digest of one that the service does not take. */
const recordedId =
  (max: number) =>
  (id: unknown): string => {
    const text = typeof id === "string" ? id : formOf(id).text
    return text.length <= max && /^[A-Za-z0-9._:/@+-]+$/.test(text) ? text : `sha256:${digestOf(JSON.stringify(text))}`
  }

const digestOf = (text: string): string => toHex(portableCrypto.sha256(utf8(text)))

const recordedCount = (count: unknown): number | undefined =>
  Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined

const recordedUsage = (usage: unknown): Usage => {
  const counts: { [name: string]: number } = {}
  for (const name of ["cost_micro_usd", "input_tokens", "output_tokens"])
    try {
      const count = recordedCount((usage as { readonly [name: string]: unknown })[name])
      if (count !== undefined) counts[name] = count
    } catch {
      // A member that cannot be read is no number.
    }
  return counts
}

/** Members that become parts, and whether a redaction sees them. */
const parts: { readonly [member: string]: boolean } = { args: true, result: true, labels: false, signals: false }

/** How a member is recorded that is neither absent nor null. */
const recorded: { readonly [member: string]: (value: unknown) => unknown } = {
  action: recordedName,
  tool_server: recordedName,
  model: recordedName,
  client_ref: recordedId(128),
  instance_id: recordedId(128),
  run_id: recordedId(200),
  evaluation_id: recordedId(200),
  approval_id: recordedId(200),
  step: recordedCount,
  latency_ms: recordedCount,
  usage: recordedUsage
}

/** A decision or an outcome as the service takes it. A number that cannot be recorded is left out. */
export const recordable = <A extends Decision | Settlement>(
  given: { readonly [Member in keyof A]: unknown },
  recording: Recording
): A => {
  const members: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(given)) {
    const isRedacted = Object.hasOwn(parts, name) ? parts[name] : null
    const made =
      isRedacted !== null
        ? recordedValue(value, isRedacted ? recording : { ...recording, redact: keepAll })
        : !Object.hasOwn(recorded, name) || (value == null && name !== "action")
          ? value
          : recorded[name]!(value)
    if (made !== undefined) members[name] = made
  }
  return members as unknown as A
}
