/** Packages published to the npm registry: the libraries as modules with types, the two commands as joined programs. */

/** A library: every module that its exports or its threads reach. */
export interface Library {
  readonly folder: string
  /** Files that a thread starts by name; no export reaches them. */
  readonly threads: ReadonlyArray<string>
  /** Folders and files that are published beside `dist`, from the root of the repository. */
  readonly extras: { readonly [name: string]: string }
  /** Files that a module reads at run time, relative to the package's `src`. */
  readonly assets: ReadonlyArray<string>
  /**
   * Joins what the library imports of ours and of packages into its own files, so that it depends on nothing. Peers
   * stay imports. For a library that is installed into programs of others.
   */
  readonly isJoined: boolean
}

/** A command: the program that `npm run build` joins, which needs no other package. */
export interface CommandPackage {
  readonly folder: string
}

const library = (folder: string, rest: Partial<Library> = {}): Library => ({
  folder,
  threads: [],
  extras: {},
  assets: [],
  isJoined: false,
  ...rest
})

/** In the order in which they depend on each other. */
export const libraries: ReadonlyArray<Library> = [
  library("packages/evidence", { extras: { vectors: "fixtures/vectors" } }),
  library("packages/envelope"),
  library("packages/contract"),
  library("packages/statistics"),
  library("packages/rules"),
  library("packages/core"),
  library("packages/storage-sql", {
    threads: ["src/sqlite/thread/sqlite-worker.ts", "src/copy/vacuum-worker.ts"],
    assets: ["postgres/migrations/*.sql"]
  }),
  library("packages/http"),
  library("packages/platform", { threads: ["src/documents/reading/child/reader-child.ts"] }),
  library("packages/node", { threads: ["src/examiner/examiner-worker.ts"] }),
  library("packages/client", { isJoined: true }),
  library("packages/testkit", { threads: ["src/postgres/keeper.ts"] })
]

export const commandPackages: ReadonlyArray<CommandPackage> = [{ folder: "apps/server" }, { folder: "apps/verify" }]
