/** Stands for `thread-module.ts` of storage-sql while `npm test` runs: storage threads run the joined program. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** The address of a thread's module in the program that `npm test` joined before. */
export const threadModule = (name: string): string =>
  pathToFileURL(join(process.env["FLYBALL_TEST_PROGRAMS"]!, "server", `${name}.js`)).href
