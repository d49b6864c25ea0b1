/** API of `@flyball/verify` for code in the same repository: the command, without a process around it. */
export type { Extras, SplitView } from "./extras.ts"
export { humanReport } from "./reports/human-report.ts"
export { jsonReport } from "./reports/json-report.ts"
export type { Environment } from "./run.ts"
export { run } from "./run.ts"
