/** The interface of `@flyball/contract`: the enums and shapes of the specification, and the refusals. */
export * from "./access-mapping.ts"
export * from "./agents.ts"
export * from "./breakers.ts"
export * from "./chain.ts"
export * from "./decisions.ts"
export type { PastTimes } from "./foundation/ahead.ts"
export { type Decoded, type Decoder, decode, missingBody } from "./foundation/decode.ts"
export { detailItem, type DetailItem, type DetailType, detailTypes, INPUT_CUT, type Slot } from "./foundation/detail.ts"
export { MAX_DETAILS } from "./foundation/details.ts"
export * from "./drills.ts"
export * from "./envelopes.ts"
export * from "./evals.ts"
export * from "./evaluations.ts"
export type { CheckDetail } from "./foundation/fields.ts"
export { idPattern, idPrefixes, isId, type IdKind } from "./foundation/ids.ts"
export * from "./identity.ts"
export * from "./ingest-keys.ts"
export * from "./kill.ts"
export * from "./foundation/limits.ts"
export * from "./local-verdicts.ts"
export { isMailAddress } from "./foundation/mail-address.ts"
export * from "./meta.ts"
export * from "./models.ts"
export * from "./packs.ts"
export * from "./foundation/page.ts"
export { type Entity, membersIn, type Place, placesOf, type Records, recordsOf } from "./foundation/place.ts"
export * from "./platform/keys.ts"
export * from "./platform/plans.ts"
export { limitWords } from "./platform/limit-words.ts"
export * from "./platform/products.ts"
export * from "./platform/usage.ts"
export * from "./provenance.ts"
export * from "./refusals.ts"
export {
  type Filter,
  type Flat,
  type Info,
  type InfoOf,
  type Input,
  type InputOf,
  type Named,
  named,
  type Struct
} from "./foundation/plain.ts"
export { reportedTag } from "./foundation/reported-tag.ts"
export * from "./response-policy.ts"
export * from "./reviews.ts"
export { parseRfc3339 } from "./foundation/rfc3339.ts"
export * from "./safety.ts"
export * from "./standing-approvals.ts"
export * from "./telemetry.ts"
export * from "./people.ts"
export * from "./session.ts"
export * from "./system.ts"
export { isVisible } from "./foundation/visible.ts"
export * from "./webhook-events.ts"
export * from "./webhooks.ts"
