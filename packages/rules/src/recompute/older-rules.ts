/** Finds records that name older rules than records long before them. Spec: decisions 0038 and 0061. */
import type { ReplayRecord } from "../records/record.ts"
import { rulesOf } from "../records/rules-version.ts"

/**
 * How long processes of an older version may write beside newer ones. Unit: milliseconds. Spec: decision 0061.
 */
export const UPGRADE_MS = 86_400_000

/** The kinds that name their rules, with the first version that does. Before it all records of the kind lack it. */
const namedSince: { readonly [kind: string]: number | undefined } = {
  "agent.activated": 2,
  "evaluation.made": 2,
  "kill.activated": 7,
  "kill.requested": 7,
  "standing_approval.proposed": 6
}

/** Rules up to a record. It grows with versions. */
export class OlderRules {
  /** When each version was first named, the newest last. */
  readonly #first: Array<{ readonly rules: number; readonly atMs: number }> = []

  /**
   * Whether a record is judged by older rules than others were a day before it: an old version of the service wrote it,
   * or an operator who wants less judged.
   */
  take({ body, kind }: ReplayRecord, atMs: number): boolean {
    const since = namedSince[kind]
    if (since === undefined) return false
    const rules = typeof body["rules"] === "number" ? rulesOf(body) : since - 1
    const newest = this.#first.at(-1)
    if (newest === undefined || rules > newest.rules) this.#first.push({ rules, atMs })
    return this.#first.some((one) => one.rules > rules && atMs - one.atMs > UPGRADE_MS)
  }
}
