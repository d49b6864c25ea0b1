/**
 * Programs that `npm run build` bundles: each app, the files that it starts or reads by name, and nothing else. Paths
 * are from the root.
 */
import { readdirSync } from "node:fs"

/** A program and its threads. */
export interface Program {
  /** The app's folder; what is made goes to `dist` in it. */
  readonly app: string
  /**
   * Files that are started by name. A thread keeps its name: its starter searches for it beside itself.
   */
  readonly entries: { readonly [name: string]: string }
  /** Files that are read at run time, and their place beside the program. */
  readonly copies: { readonly [name: string]: string }
  /** One executable file without anything beside it, for this Node and newer ones. */
  readonly single?: { readonly node: string }
  /** The same program for a browser, as one file. */
  readonly page?: Page
}

/** A page with its script and its worker. */
export interface Page {
  readonly name: string
  /** HTML with places named `{{script}}`. */
  readonly template: string
  readonly style: string
  /** Exports `reportStyle`, which stands before the style. */
  readonly styleModule: string
  readonly script: string
  readonly worker: string
}

const migrationsFolder = "packages/storage-sql/src/postgres/migrations"

/**
 * Every migration of Postgres: one that is missing beside the joined program would be noticed on a new database alone.
 */
const migrations = Object.fromEntries(
  readdirSync(new URL(`../../${migrationsFolder}`, import.meta.url)).map((name) => [
    `migrations/${name}`,
    `${migrationsFolder}/${name}`
  ])
)

/** The programs, each joined on its own: the verifier shares nothing with the server, not even a file. */
export const programs: ReadonlyArray<Program> = [
  {
    app: "apps/server",
    entries: {
      main: "apps/server/src/main.ts",
      "sqlite-worker": "packages/storage-sql/src/sqlite/thread/sqlite-worker.ts",
      "vacuum-worker": "packages/storage-sql/src/copy/vacuum-worker.ts",
      "examiner-worker": "packages/node/src/examiner/examiner-worker.ts",
      "reader-child": "packages/platform/src/documents/reading/child/reader-child.ts"
    },
    copies: {
      ...migrations,
      "demo/starter.ndjson": "fixtures/traces/starter.ndjson"
    }
  },
  {
    app: "apps/verify",
    entries: { "flyball-verify": "apps/verify/src/single-file.ts" },
    copies: {},
    single: { node: "20.19" },
    page: {
      name: "flyball-verify.html",
      template: "apps/verify/src/page/page.html",
      style: "apps/verify/src/page/page.css",
      styleModule: "apps/verify/src/reports/report-tree.ts",
      script: "apps/verify/src/page/page.ts",
      worker: "apps/verify/src/page/worker.ts"
    }
  }
]
