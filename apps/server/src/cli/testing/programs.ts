/**
 * The programs that tests of commands start: those that `npm test` joined before, as they are installed, or the sources
 * where a test file runs alone. The joined ones start in a third of the time.
 */
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const joined = process.env["FLYBALL_TEST_PROGRAMS"]
const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** `flyball`. */
export const mainFile = joined === undefined ? source("../../main.ts") : join(joined, "server", "main.js")

/** `flyball-verify`. */
export const verifyFile =
  joined === undefined ? source("../../../../verify/src/main.ts") : join(joined, "verify", "flyball-verify.mjs")
