/**
 * The version of the rules by which the service decides. Records of decisions name it, so that replay does not judge by
 * rules that it does not have.
 *
 * There is one version: nothing that other rules decided is released. To change a rule after the first release: raise
 * `RULES`, keep the old rule, and let replay choose by the record's own number. Spec: decision 0038.
 */
import type { JsonMap } from "./record.ts"

/** The number of the current version of the rules. Spec: format 1 section 8; decision 0038. */
export const RULES = 7

/**
 * True for a record made by rules that this version of the code does not know. Such a record is not judged, and is not
 * called wrong.
 */
export const areNewerRules = ({ rules }: JsonMap): boolean => typeof rules === "number" && rules > RULES

/** Reported for a record that was made by newer rules. */
export const newerRules = ({ rules }: JsonMap): string =>
  `The record was made by rules ${String(rules)}, and this version knows rules up to ${RULES}. Replay it with ` +
  "a newer version."
