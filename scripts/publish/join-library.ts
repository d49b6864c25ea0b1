/**
 * Joins a library with what it imports of ours and of packages: one file for each export, and chunks that they share.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licencesOf } from "../build/licences.ts"
import { packageOfOurs } from "./joined-types.ts"
import { publishedExports, type WorkspaceManifest } from "./manifest.ts"

/** The oldest Node that the files run in; Deno, Bun and workers are newer. */
const TARGET = "node20.19"

/**
 * Writes `dist/**.js` with maps, and `LICENSES.txt` of what was joined, into the staged package. The types lie there
 * already. One chunk holds each module, so that a class is the same class in every entry.
 *
 * - Fails: rejects when a module is missing, when an import is left that is neither a peer nor Node's, when a package
 *   brings no licence, and when a declaration names another package of ours, which a stranger does not have.
 */
export const joinLibrary = async (root: string, folder: string, to: string): Promise<void> => {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as WorkspaceManifest
  const files = [...publishedExports(manifest).map(([, file]) => file), ...Object.values(manifest.bin ?? {})]
  const peers = Object.keys(manifest.peerDependencies ?? {})
  const isForeign = (id: string): boolean =>
    id.startsWith("node:") || peers.some((peer) => id === peer || id.startsWith(`${peer}/`))
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(files.map((file) => [file.replace(/^\.\/src\/|\.ts$/g, ""), join(root, folder, file)])),
    platform: "neutral",
    external: (id) => isForeign(id),
    transform: { target: TARGET },
    // Of ours and of what we join, no module does anything by being imported; a command's file is an entry.
    treeshake: { moduleSideEffects: false },
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message)
    }
  })
  try {
    const { output } = await bundle.write({
      dir: join(to, "dist"),
      format: "esm",
      sourcemap: true,
      minify: false,
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      comments: { legal: true }
    })
    const made = new Set(output.map(({ fileName }) => fileName))
    const modules: Array<string> = []
    for (const chunk of output) {
      if (chunk.type !== "chunk") continue
      modules.push(...chunk.moduleIds)
      const lost = [...chunk.imports, ...chunk.dynamicImports].filter((id) => !made.has(id) && !isForeign(id))
      if (lost.length > 0) throw new Error(`${folder}/dist/${chunk.fileName} needs ${lost.join(", ")}: no peer.`)
    }
    writeFileSync(join(to, "LICENSES.txt"), licencesOf(modules))
  } finally {
    await bundle.close()
  }
  for (const path of globSync("dist/**/*.d.ts", { cwd: to })) {
    const named = packageOfOurs(readFileSync(join(to, path), "utf8"))
    if (named !== null) throw new Error(`${folder}/${path} names types of ${named}, which is not installed with it.`)
  }
}
