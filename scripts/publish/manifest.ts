/** The `package.json` of a published package, derived from the one in the workspace. */

/** Members of the workspace's manifests. */
export interface WorkspaceManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly exports: { readonly [subpath: string]: string }
  readonly dependencies?: { readonly [name: string]: string }
  readonly peerDependencies?: { readonly [name: string]: string }
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional: boolean } }
  readonly bin?: { readonly [command: string]: string }
}

/** A manifest as npm reads it. */
export type PublishedManifest = { readonly [member: string]: unknown }

/** Libraries run in any Node that reads what TypeScript emits; storage wants `node:sqlite` without a flag. */
export const LIBRARY_ENGINES = { node: ">=22.19" }
/** The joined verifier and the client run in the Node of others, which may be old. */
export const OLD_ENGINES = { node: ">=20.19" }

/** Entries exported to users: the entry `testing` is for tests of this repository. */
export const publishedExports = ({
  exports
}: WorkspaceManifest): ReadonlyArray<readonly [subpath: string, file: string]> =>
  Object.entries(exports).filter(([subpath]) => subpath !== "./testing")

/** The manifest of a library: exports lead to `dist`, dependencies stay exact. A joined one has only peers left. */
export const libraryManifest = (
  workspace: WorkspaceManifest,
  extras: ReadonlyArray<string>,
  isJoined: boolean
): PublishedManifest => ({
  ...common(workspace),
  engines: isJoined ? OLD_ENGINES : LIBRARY_ENGINES,
  sideEffects: false,
  exports: {
    ...Object.fromEntries(
      publishedExports(workspace).map(([subpath, file]) => [
        subpath,
        { types: emitted(file, ".d.ts"), default: emitted(file, ".js") }
      ])
    ),
    "./package.json": "./package.json"
  },
  ...(workspace.bin === undefined ? {} : { bin: emittedBin(workspace.bin) }),
  files: ["dist", "src", ...extras, "CHANGELOG.md"],
  ...dependenciesOf(workspace, isJoined)
})

const emittedBin = (bin: { readonly [command: string]: string }): { readonly [command: string]: string } =>
  Object.fromEntries(Object.entries(bin).map(([command, file]) => [command, emitted(file, ".js").slice(2)]))

/** The manifest of a command: a joined program, which has no dependency left. */
export const commandManifest = (
  workspace: WorkspaceManifest,
  bin: { readonly [command: string]: string },
  engines: { readonly node: string }
): PublishedManifest => ({
  ...common(workspace),
  engines,
  bin,
  files: ["bin", "dist", "CHANGELOG.md"]
})

const common = ({ description, license, name, version }: WorkspaceManifest) => ({
  name,
  version,
  description,
  license,
  type: "module",
  // `npm publish` attests where a package was built when its registry and its builder can.
  publishConfig: { access: "public", provenance: true }
})

const dependenciesOf = (
  { dependencies, peerDependencies, peerDependenciesMeta }: WorkspaceManifest,
  isJoined: boolean
) => ({
  ...(isJoined || dependencies === undefined ? {} : { dependencies }),
  ...(peerDependencies === undefined ? {} : { peerDependencies }),
  ...(peerDependenciesMeta === undefined ? {} : { peerDependenciesMeta })
})

/** Where TypeScript puts what it makes of a source. */
export const emitted = (file: string, extension: ".d.ts" | ".js"): string =>
  file.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, extension)
