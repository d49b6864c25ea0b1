/**
 * An envelope in the language of another engine, for gateways that run one, and as a second opinion on ours. One way;
 * what is enforced here is the envelope.
 */
import { compile } from "../compile/compile.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { celRefusals, toCel } from "./cel.ts"
import { cedarRefusals, toCedar } from "./cedar.ts"

/** Languages that an envelope can be exported to. */
export const exportLanguages = ["cedar", "cel"] as const

/** One of {@link exportLanguages}. */
export type ExportLanguage = (typeof exportLanguages)[number]

/** The policy text, or the sentences that say why there is none. */
export type Exported = { readonly text: string } | { readonly refusals: ReadonlyArray<string> }

/**
 * Translates an envelope, given as JSON, into Cedar or CEL, without the tier floor and the layers around it. Outcome
 * and rule are the same at every point whose values lie in their domains; meters, latches and derived signals are
 * attributes that the caller computes.
 *
 * - Texts with a form are given as their normal form, and as the empty text where they are unreadable.
 * - Refuses: what is no envelope; in CEL obligations, times and suggestions; in Cedar lengths of texts.
 */
export const exportEnvelope = (json: unknown, to: ExportLanguage): Exported => {
  const { envelope, findings } = readEnvelope(json)
  if (envelope === null)
    return {
      refusals: findings.map(({ code, message, path }) => `${code} ${path === "" ? "the envelope" : path}: ${message}`)
    }
  const { combination, findings: misfits } = compile([envelope])
  if (combination === null) return { refusals: misfits.map(({ code, message, path }) => `${code} ${path}: ${message}`) }
  const refusals = to === "cel" ? celRefusals(combination) : cedarRefusals(combination)
  return refusals.length > 0 ? { refusals } : { text: to === "cel" ? toCel(combination) : toCedar(combination) }
}
