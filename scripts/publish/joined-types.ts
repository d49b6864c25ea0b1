/** Finds declarations of joined libraries that name another package of ours, which a stranger does not have. */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { libraries } from "./list.ts"
import { publishedExports, type WorkspaceManifest } from "./manifest.ts"

/** Names the first package of ours in the text of a declaration; null where there is none. */
export const packageOfOurs = (declaration: string): string | null =>
  /(?:from |import\()"(@flyball\/[^"]+)"/.exec(declaration)?.[1] ?? null

/** Emits the declarations of every joined library, and lists those that name another package of ours. */
export const leakedTypes = (root: string): ReadonlyArray<string> => {
  const out = join(root, "node_modules/.cache/joined-types")
  const config = `${out}.json`
  const folders = libraries.filter(({ isJoined }) => isJoined).map(({ folder }) => folder)
  const files = folders.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as WorkspaceManifest
    return publishedExports(manifest).map(([, file]) => join(root, folder, file))
  })
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { noEmit: false, emitDeclarationOnly: true, outDir: out, rootDir: root },
      include: [],
      files
    })
  )
  // Types that do not hold are another check's; declarations are emitted all the same.
  spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config], { cwd: root })
  const emitted = folders.flatMap((folder) => globSync(`${folder}/src/**/*.d.ts`, { cwd: out }))
  if (emitted.length === 0) return [`no declarations of ${folders.join(", ")} were emitted`]
  return emitted.flatMap((path) => {
    const named = packageOfOurs(readFileSync(join(out, path), "utf8"))
    return named === null ? [] : [`${path} names types of ${named}, which is not installed with it`]
  })
}
