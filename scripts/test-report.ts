/** Reading vitest's JSON report. */
import { relative } from "node:path"

/** The members of the report that are read. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    /** Why the file failed where no test of it did. */
    readonly message?: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName?: string
      readonly failureMessages?: ReadonlyArray<string>
    }>
  }>
}

/** Lists what failed or did not run, a line each: file, test and the first line of its message. */
export const failureLines = (report: VitestReport | null, root: string): ReadonlyArray<string> =>
  (report?.testResults ?? []).flatMap(({ assertionResults, message = "", name, status }) => {
    const bad = assertionResults.filter((test) => test.status !== "passed")
    const line = (test: string, text: string): string =>
      `FAILED ${relative(root, name)}${test}: ${text.trim().split("\n", 1)[0]}`
    return bad.length > 0
      ? bad.map((test) => line(` > ${test.fullName ?? ""}`, test.failureMessages?.[0] ?? test.status))
      : status === "failed"
        ? [line("", message)]
        : []
  })

/**
 * How many tests passed and failed.
 *
 * A file that failed though no test of it did (it could not be loaded, or what goes before or after its tests threw)
 * counts as one failure, a test that did not run as a failure too (nothing is skipped here), and so does a run
 * that ended badly although every test passed: an error outside any test, or no report at all.
 */
export const countTests = (
  report: VitestReport | null,
  status: number
): { readonly passed: number; readonly failed: number } => {
  if (report === null) return { passed: 0, failed: 1 }
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed")
  ).length
  const failed = report.numFailedTests + report.numPendingTests + report.numTodoTests + broken
  return { passed: report.numPassedTests, failed: failed === 0 && status !== 0 ? 1 : failed }
}
