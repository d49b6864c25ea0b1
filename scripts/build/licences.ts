/** The licences of the packages whose code was joined, as one text that lies beside it. */
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Inputs } from "./inputs.ts"

/** The folder of the package that a file of `node_modules` belongs to, or null for a file of ours. */
export const packageFolder = (path: string): string | null => /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path)?.[1] ?? null

/**
 * The text.
 *
 * - Fails: throws when a package brings no licence, for it may not be joined then.
 */
export const licencesOf = (modules: ReadonlyArray<string>, inputs: Inputs): string => {
  const folders = [...new Set(modules.flatMap((path) => packageFolder(path) ?? []))].sort()
  const parts = folders.map((folder) => {
    const { license, name, version } = JSON.parse(inputs.read(join(folder, "package.json")).toString()) as { readonly name: string; readonly version: string; readonly license?: string }
    const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)(\.|$)/i.test(entry))
    if (file === undefined) throw new Error(`${name} ${version} brings no licence text, so its code is not joined. Look at what its authors say, and leave it out of the build or add the text`)
    return `${name} ${version} (${license ?? "see below"})\n\n${inputs.read(join(folder, file)).toString().trim()}\n`
  })
  return ["Flyball is licensed under Apache-2.0. The files beside this one contain code of these packages too.\n", ...parts].join(`\n${"-".repeat(80)}\n\n`)
}

/** Manifests of ours above the joined files: they say what a package's name stands for. */
export const ownManifests = (modules: ReadonlyArray<string>, root: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const path of modules) {
    if (packageFolder(path) !== null) continue
    for (let folder = dirname(path); folder.length >= root.length; folder = dirname(folder)) {
      const manifest = join(folder, "package.json")
      if (existsSync(manifest)) found.add(manifest)
    }
  }
  return [...found].sort()
}
