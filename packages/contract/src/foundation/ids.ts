/** Ids: a typed prefix and 26 lower-case Crockford base-32 characters. Spec: api.md, Conventions; design section 5. */

/** Prefix of each kind of id. */
export const idPrefixes = {
  agent: "agt",
  decision: "dec",
  ingestKey: "key",
  platformKey: "pky",
  pack: "pck",
  user: "usr",
  evaluation: "evl",
  evalRun: "evr",
  mcpServer: "mcs",
  mcpListing: "mls",
  finding: "fnd",
  fairnessScreen: "fsc",
  envelope: "env",
  waiver: "wvr",
  activation: "kil",
  breaker: "brk",
  drill: "drl",
  review: "rev",
  standingApproval: "sap",
  provenance: "prv",
  model: "mdl",
  workflow: "wfl",
  execution: "exe",
  analysis: "anl",
  analysisReport: "rpt",
  extraction: "ext",
  approval: "apv",
  monitor: "mon",
  alert: "alt",
  geofence: "gfc",
  routePlan: "pln",
  webhook: "whk",
  event: "evt",
  delivery: "dlv"
} as const

/** A kind of id. */
export type IdKind = keyof typeof idPrefixes

const TAIL = "[0-9a-hjkmnp-tv-z]{26}"

const patterns: { readonly [K in IdKind]: RegExp } = Object.fromEntries(
  Object.entries(idPrefixes).map(([kind, prefix]) => [kind, new RegExp(`^${prefix}_${TAIL}$`)])
) as { readonly [K in IdKind]: RegExp }

/** The pattern that ids of this kind match. Spec: format 1 section 7. */
export const idPattern = (kind: IdKind): RegExp => patterns[kind]

/** True for a text in the form of an id of this kind. The object need not exist. Spec: format 1 section 7. */
export const isId = (kind: IdKind, text: string): boolean => patterns[kind].test(text)
