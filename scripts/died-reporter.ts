/**
 * Tells `npm test` which files' processes were ended by a signal, and how many errors there were beside: vitest counts
 * both as errors of the run.
 */
import { writeFileSync } from "node:fs"
import type { Reporter } from "vitest/node"
import { diedOf } from "./test-report.ts"

/** A reporter of vitest; it writes where `FLYBALL_TEST_DIED_FILE` says. */
export default class DiedReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]> = (_modules, errors) => {
    const file = process.env["FLYBALL_TEST_DIED_FILE"]
    if (file !== undefined) writeFileSync(file, JSON.stringify(diedOf(errors)))
  }
}
