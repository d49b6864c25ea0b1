/** Decides what a list of tools is to those before it. Service and verifier run it. Spec: decision 0072. */
import type { Slices } from "@flyball/evidence"
import { type Known, type ManifestDiff, diffOf } from "./diff.ts"
import type { Manifest } from "./manifest.ts"
import { baselineOf, isTrustedRoot, type McpServerDocument } from "./state.ts"

/** The place of a list among those before it. */
export interface PlacedList {
  readonly state: "first" | "unchanged" | "known" | "changed"
  /** True when it counts as approved. */
  readonly trusted: boolean
  /** The content of a finding; null: there is none, or one is open already. */
  readonly diff: ManifestDiff | null
  readonly against: "pin" | "seen" | "first_seen"
  readonly beforeRoot: string | null
}

/**
 * Places a list.
 *
 * - `server`: null where this is its first list.
 * - `baseline`: the list of {@link baselineOf}; null only where none need be compared: the list is the first, the last
 *   again, or one that counts as approved.
 * - `hasFinding`: whether a finding about this list of this server is open.
 */
export function* placeList(
  server: McpServerDocument | null,
  baseline: Known | null,
  manifest: Manifest,
  coverage: "complete" | "partial",
  hasFinding: boolean
): Slices<PlacedList> {
  const finding = (diff: ManifestDiff | null): ManifestDiff | null => (hasFinding ? null : diff)
  if (server === null) {
    const diff = yield* diffOf(null, manifest)
    return { state: "first", trusted: diff === null, diff: finding(diff), against: "first_seen", beforeRoot: null }
  }
  const { against, list } = baselineOf(server)
  const place = { against, beforeRoot: list.root }
  const trusted = isTrustedRoot(server, manifest.root)
  if (trusted || manifest.root === server.last.root)
    return { ...place, state: manifest.root === server.last.root ? "unchanged" : "known", trusted, diff: null }
  const diff = yield* diffOf(baseline, manifest, {
    before: against === "pin" || server.coverage === "complete",
    after: coverage === "complete"
  })
  return diff === null
    ? { ...place, state: "known", trusted: isTrustedRoot(server, list.root), diff: null }
    : { ...place, state: "changed", trusted: false, diff: finding(diff) }
}

/** The changes as the part `mcp_changes` has them. */
export const changesOut = ({ changes }: ManifestDiff) =>
  changes.map(({ after, before, change, layers, renamedFrom, severity, signals, tool }) => ({
    after,
    before,
    change,
    layers: [...layers],
    ...(renamedFrom === undefined ? {} : { renamed_from: renamedFrom }),
    severity,
    signals: signals.map(({ end, path, rule, start }) => ({ end, path, rule, start })),
    tool
  }))
