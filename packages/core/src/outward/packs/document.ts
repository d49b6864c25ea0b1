/**
 * A requested pack as a document: the request, and the tree at that moment. The bytes are computed for each download.
 */
import type { PackHeader } from "@flyball/evidence"
import { formatInstant } from "@flyball/evidence"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { type Scope, unitScope } from "../../foundation/scope.ts"
import type { Document, JsonObject } from "../../storage/port.ts"

/** Collection of the requests. Not governed: the replay checker ignores it; that a pack was exported is a record. */
export const PACKS = "packs"

/** Which parts a pack discloses: none, all, or those of these names. */
export type Disclosure = "none" | "all" | ReadonlyArray<string>

/** The content of a pack, decided when it was requested. */
export type PackSpec = {
  readonly kind: "full" | "range" | "sparse"
  /** First and last seq covered. */
  readonly from: number
  readonly to: number
  readonly treeSize: number
  readonly agentId: string | null
  /** Only records of these agents; null when every agent may be seen. */
  readonly agentIds: ReadonlyArray<string> | null
  readonly runId: string | null
  readonly kinds: ReadonlyArray<string> | null
  /** Inclusive. */
  readonly sinceMs: number | null
  /** Exclusive. */
  readonly untilMs: number | null
  readonly disclose: Disclosure
}

/** A stored request. */
export type PackDocument = PackSpec & {
  /** Org unit of the caller; `*` when the whole chain was visible to it, or where `orgUnits` names several. */
  readonly orgUnit: string
  readonly orgUnits?: ReadonlyArray<string>
  readonly createdBy: string
  readonly createdAtMs: number
  /** Digest of the first pack that was streamed to its end; null before. */
  readonly exportedDigest: string | null
}

/** The request in a document of the collection `packs`; only this folder writes there. */
export const storedPack = (document: Document): PackDocument => document.body as PackDocument

/** The caller's scope, as a pack keeps it: one unit as it always was, several beside it. */
export const requestedWithin = ({ orgUnits }: Scope): Pick<PackDocument, "orgUnit" | "orgUnits"> =>
  orgUnits === "*" ? { orgUnit: "*" } : orgUnits.length === 1 ? { orgUnit: orgUnits[0]! } : { orgUnit: "*", orgUnits }

/** The scope of the caller that requested a pack: only callers that cover it may have the pack. */
export const requestedScope = ({ orgUnit, orgUnits }: PackDocument): Scope =>
  orgUnits === undefined ? unitScope(orgUnit) : { orgUnits }

/** The request as a document's body. */
export const packBody = (pack: PackDocument): JsonObject => ({ ...pack })

/** The H line of a pack. */
export const packHeader = (spec: PackSpec, createdAtMs: number, generator: string): PackHeader => ({
  created: formatInstant(createdAtMs),
  filter: omitNullish({
    agent_id: spec.agentId,
    agent_ids: spec.agentIds,
    kinds: spec.kinds,
    run_id: spec.runId,
    since: spec.sinceMs === null ? null : formatInstant(spec.sinceMs),
    until: spec.untilMs === null ? null : formatInstant(spec.untilMs)
  }),
  from: spec.from,
  generator,
  kind: spec.kind,
  to: spec.to,
  tree_size: spec.treeSize
})
