/** Reading vitest's JSON report. */

/** The members of the report that are read. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

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
